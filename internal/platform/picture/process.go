package picture

import (
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"runtime/debug"
)

// Size is one output size.
type Size struct {
	Name string
	// Longest is the length of the longer side in pixels. A smaller picture is not enlarged.
	Longest int
}

// The output sizes, largest first.
var (
	// ProfileSizes are the sizes of a profile picture.
	ProfileSizes = []Size{{"large", 1024}, {"medium", 320}, {"small", 96}}
	// DocumentSizes is the one size of other pictures.
	DocumentSizes = []Size{{"", 4096}}
)

// Options configure Process.
type Options struct {
	// Sizes to write, largest first.
	Sizes []Size
	// Create returns the writer for a size, such as a blob.Spool. Process returns
	// its errors and the errors of Write.
	Create func(Size) (io.Writer, error)
}

// Result describes what Process wrote.
type Result struct {
	// Source describes the input.
	Source Info
	// Pictures are the pictures written, in the order of Options.Sizes.
	Pictures []Picture
}

// Picture describes one picture that was written.
type Picture struct {
	Size
	MediaType     string // JPEG, or PNG where it is transparent
	Width, Height int
}

// Process decodes the picture in the size bytes of src, applies its orientation and
// writes it in every size without metadata: as JPEG if opaque, else as PNG. A
// process decodes one picture at a time; Process waits for the others while ctx
// lasts. A picture that cannot be decoded is a *FileError.
func Process(ctx context.Context, src io.ReaderAt, size int64, opts Options) (Result, error) {
	info, err := Inspect(src, size)
	if err != nil {
		return Result{}, err
	}
	if !info.IsPicture() {
		return Result{}, fileError(UnsupportedType, "The file is a PDF, not a picture.")
	}
	select {
	case decodeSlot <- struct{}{}:
		defer func() { <-decodeSlot }()
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	freeMemory(info)
	defer freeMemory(info)
	m, err := decode(ctx, src, size, info)
	if err != nil {
		return Result{}, err
	}
	m = halve(m)
	result := Result{Source: info}
	mediaType, oriented := JPEG, false
	if _, transparent := m.(*image.NRGBA); transparent {
		mediaType = PNG
	}
	for _, s := range opts.Sizes {
		// Scale from the previous size: it is large enough and much cheaper.
		width, height := fit(m.Bounds().Dx(), m.Bounds().Dy(), s.Longest)
		if width < m.Bounds().Dx() || height < m.Bounds().Dy() {
			m, err = shrink(ctx, m, width, height)
			if err != nil {
				return Result{}, err
			}
			freeMemory(info)
		}
		if !oriented {
			m = info.colours.toSRGB(m)
			m, oriented = orient(m, info.orientation), true
			freeMemory(info)
		}
		if err := encode(ctx, m, mediaType, s, opts.Create); err != nil {
			return Result{}, err
		}
		result.Pictures = append(result.Pictures, Picture{s, mediaType, m.Bounds().Dx(), m.Bounds().Dy()})
	}
	return result, nil
}

// decodeSlot admits one decode at a time.
var decodeSlot = make(chan struct{}, 1)

// freeMemory returns the garbage of a large decode to the system, so that the next
// step does not add to it.
func freeMemory(info Info) {
	if info.memory > freeMemoryAbove {
		debug.FreeOSMemory()
	}
}

// fit returns the size scaled so that the longer side is at most longest; each side
// is at least 1.
func fit(width, height, longest int) (int, int) {
	side := max(width, height)
	if side <= longest {
		return width, height
	}
	scaled := func(n int) int { return max(1, (n*longest+side/2)/side) }
	return scaled(width), scaled(height)
}

const (
	// jpegQuality is on the scale of 1 to 100.
	jpegQuality = 85
	// fastPNGPixels is the number of pixels from which a PNG is compressed fast:
	// the file is a fifth larger, but takes a tenth of the time, up to a minute less.
	fastPNGPixels = 1 << 20
)

func encode(ctx context.Context, m image.Image, mediaType string, s Size, create func(Size) (io.Writer, error)) error {
	to, err := create(s)
	if err != nil {
		return err
	}
	w := &contextWriter{ctx, to}
	if mediaType == PNG {
		e := png.Encoder{CompressionLevel: png.DefaultCompression}
		if m.Bounds().Dx()*m.Bounds().Dy() >= fastPNGPixels {
			e.CompressionLevel = png.BestSpeed
		}
		return e.Encode(w, m)
	}
	return jpeg.Encode(w, m, &jpeg.Options{Quality: jpegQuality})
}

// contextWriter stops writing once its context ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c *contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}
