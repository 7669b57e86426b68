package picture

import (
	"context"
	"io"
)

// Size is a picture to make.
type Size struct {
	Name string
	// Longest is the length of the longest side, in pixels; a smaller picture is
	// not enlarged.
	Longest int
}

// What is made of pictures, the largest first.
var (
	// ProfileSizes are those of a profile picture.
	ProfileSizes = []Size{{"large", 1024}, {"medium", 320}, {"small", 96}}
	// DocumentSizes is that of every other picture.
	DocumentSizes = []Size{{"", 4096}}
)

// Options of Process.
type Options struct {
	// Sizes to make, the largest first.
	Sizes []Size
	// Create gives what a size is written to, such as a blob.Spool. An error of
	// its Write ends Process, which returns it.
	Create func(Size) (io.Writer, error)
}

// Result is what Process made.
type Result struct {
	// Source is what the file was.
	Source Info
	// Pictures are those that were made, in the order of Options.Sizes.
	Pictures []Picture
}

// Picture is one that was made.
type Picture struct {
	Size
	MediaType     string // JPEG, or PNG where it is transparent
	Width, Height int
}

// Process decodes the picture in the size bytes of src, turns it the right way up
// and writes it anew in every size, without any metadata. JPEG is made of what is
// opaque, PNG of what is not. Only one picture is decoded at a time in a process:
// Process waits for its turn, as long as ctx lets it. What cannot be decoded is a
// *Refusal.
func Process(ctx context.Context, src io.ReaderAt, size int64, opts Options) (Result, error) {
	panic("not yet")
}
