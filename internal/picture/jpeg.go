package picture

import "io"

func inspectJPEG(r io.ReaderAt, size int64) (Info, error) { return Info{MediaType: JPEG}, nil }
func inspectPNG(r io.ReaderAt, size int64) (Info, error)  { return Info{MediaType: PNG}, nil }
func inspectWebP(r io.ReaderAt, size int64) (Info, error) { return Info{MediaType: WebP}, nil }
