package picture

import (
	"errors"
	"fmt"
	"io"

	"github.com/gabriel-vasile/mimetype"
)

// What a file is, by its content.
const (
	PDF  = "application/pdf"
	JPEG = "image/jpeg"
	PNG  = "image/png"
	WebP = "image/webp"
)

const (
	// MaxPixels is "16 megapixels", read generously: 16×1024×1024, a square of 4096.
	MaxPixels = 16 << 20
	// MaxSide bounds each side in pixels.
	MaxSide = 20_000
)

// Info is what Inspect learned without decoding.
type Info struct {
	// MediaType is PDF, JPEG, PNG or WebP.
	MediaType string
	// Width and Height are those that a person sees, the picture turned the right
	// way up; 0 for a PDF.
	Width, Height int

	// as stored, before turning
	width, height int
	orientation   int
	// need is how many bytes decoding will hold at once, and pixels how many of
	// them are allocated in one piece after the last of what cannot be foreseen.
	memory, lateMemory int64
}

// Picture says whether it is one, rather than a PDF.
func (i Info) IsPicture() bool { return i.MediaType != PDF }

// Extension is what a name of such a file ends in, dot included.
func (i Info) Extension() string {
	return map[string]string{PDF: ".pdf", JPEG: ".jpg", PNG: ".png", WebP: ".webp"}[i.MediaType]
}

// Inspect tells by its content what the size bytes of r are, and refuses, with a
// *Refusal, what is none of the four kinds or would be too much to decode. It
// reads a picture's structure, never its pixels, and keeps no more than 64 KiB.
func Inspect(r io.ReaderAt, size int64) (Info, error) {
	head := make([]byte, min(size, headSize))
	if err := readAt(r, head, 0); err != nil {
		return Info{}, err
	}
	if size == 0 {
		return Info{}, fileError(UnsupportedType, "The file is empty.")
	}
	var info Info
	var err error
	switch kind := kindOf(head); kind {
	case PDF:
		info, err = inspectPDF(r, size, head)
	case JPEG:
		info, err = inspectJPEG(r, size)
	case PNG:
		info, err = inspectPNG(r, size)
	case WebP:
		info, err = inspectWebP(r, size)
	default:
		return Info{}, fileError(UnsupportedType, "The file's content is %s; PDF, JPEG, PNG and WebP are taken.", kind)
	}
	if err != nil || !info.IsPicture() {
		return info, err
	}
	return info.upright(), info.check()
}

// headSize is what the detection of a type looks at.
const headSize = 3072

// kindOf is mimetype's answer, held to the one signature at the very start that
// each of our kinds has: mimetype is lenient with some, as browsers are.
func kindOf(head []byte) string {
	found := mimetype.Detect(head)
	for kind, signed := range map[string]bool{
		PDF:  hasPrefix(head, "%PDF-"),
		JPEG: hasPrefix(head, "\xff\xd8\xff"),
		PNG:  hasPrefix(head, "\x89PNG\r\n\x1a\n"),
		WebP: hasPrefix(head, "RIFF") && len(head) >= 12 && string(head[8:12]) == "WEBP",
	} {
		if signed && (found.Is(kind) || kind == PNG && found.Is("image/vnd.mozilla.apng")) {
			return kind
		}
	}
	if found.Is(PDF) || found.Is(JPEG) || found.Is(PNG) || found.Is(WebP) {
		return "like " + found.String() + ", but does not begin as one"
	}
	return found.String()
}

func hasPrefix(head []byte, prefix string) bool {
	return len(head) >= len(prefix) && string(head[:len(prefix)]) == prefix
}

// check holds a picture to the limits.
func (i Info) check() error {
	switch {
	case i.width <= 0 || i.height <= 0:
		return fileError(Unreadable, "The picture says that it has no pixels.")
	case i.width > MaxSide || i.height > MaxSide:
		return fileError(TooManyPixels, "The picture is %d × %d pixels; a side may have %d.", i.width, i.height, MaxSide)
	case int64(i.width)*int64(i.height) > MaxPixels:
		return fileError(TooManyPixels, "The picture has %d × %d pixels, more than 16 megapixels.", i.width, i.height)
	case i.memory > decodeBudget:
		return fileError(NeedsTooMuchMemory, "Decoding the picture would need %d MB, and %d MB are set aside for it; save it without interlacing or progressive coding, with 8 bits a colour, or smaller.",
			i.memory>>20, decodeBudget>>20)
	}
	return nil
}

// upright sets Width and Height as they are seen.
func (i Info) upright() Info {
	i.Width, i.Height = i.width, i.height
	if i.orientation >= 5 {
		i.Width, i.Height = i.height, i.width
	}
	return i
}

// readAt fills p from at.
func readAt(r io.ReaderAt, p []byte, at int64) error {
	n, err := r.ReadAt(p, at)
	switch {
	case n == len(p):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return fileError(Truncated, "The file ends too early.")
	default:
		return fmt.Errorf("read an upload: %w", err)
	}
}
