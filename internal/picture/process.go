package picture

import (
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"runtime/debug"
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
	made := Result{Source: info}
	mediaType, turned := JPEG, false
	if _, transparent := m.(*image.NRGBA); transparent {
		mediaType = PNG
	}
	for _, s := range opts.Sizes {
		// Each is made from the one before, which is large enough and much less.
		width, height := fit(m.Bounds().Dx(), m.Bounds().Dy(), s.Longest)
		if width < m.Bounds().Dx() || height < m.Bounds().Dy() {
			if m, err = shrink(ctx, m, width, height); err != nil {
				return Result{}, err
			}
			freeMemory(info)
		}
		if !turned {
			m, turned = orient(m, info.orientation), true
			freeMemory(info)
		}
		if err := encode(ctx, m, mediaType, s, opts.Create); err != nil {
			return Result{}, err
		}
		made.Pictures = append(made.Pictures, Picture{s, mediaType, m.Bounds().Dx(), m.Bounds().Dy()})
	}
	return made, nil
}

// turns lets one picture be decoded at a time.
var decodeSlot = make(chan struct{}, 1)

// settle collects what the last step left and gives it back to the system, where
// that is worth the while: the next step's memory comes on top of it otherwise.
func freeMemory(info Info) {
	if info.memory > freeMemoryAbove {
		debug.FreeOSMemory()
	}
}

// fit returns the size with the longest side at most longest, each at least 1.
func fit(width, height, longest int) (int, int) {
	side := max(width, height)
	if side <= longest {
		return width, height
	}
	scaled := func(n int) int { return max(1, (n*longest+side/2)/side) }
	return scaled(width), scaled(height)
}

const (
	// quality of the JPEG that is written, of 100.
	jpegQuality = 85
	// large is from how many pixels on a PNG is written in a hurry: a fifth larger,
	// in a tenth of the time, which is most of a minute for the largest.
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

// heeding ends with its context.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (h *contextWriter) Write(p []byte) (int, error) {
	if err := h.ctx.Err(); err != nil {
		return 0, err
	}
	return h.w.Write(p)
}
