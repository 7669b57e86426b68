package picture

import (
	"errors"
	"fmt"
	"io"

	"github.com/gabriel-vasile/mimetype"
)

// The accepted media types.
const (
	PDF  = "application/pdf"
	JPEG = "image/jpeg"
	PNG  = "image/png"
	WebP = "image/webp"
)

const (
	// MaxPixels is 50 megapixels, 50×1024×1024, the most that phones make by themselves. Memory limits more pictures: see check.
	MaxPixels = 50 << 20
	// plainPixels is 16 megapixels, a square with sides of 4096: above it, decodeBudget also counts the smaller copy.
	plainPixels = 16 << 20
	// MaxSide bounds each side in pixels.
	MaxSide = 20_000
	// maxParts bounds the chunks of a PNG or WebP and the segments of a JPEG. Encoders
	// write some thousands at most; each costs time in every program that reads the file.
	maxParts = 10_000
)

// Info describes a file without decoding it.
type Info struct {
	// MediaType is PDF, JPEG, PNG or WebP.
	MediaType string
	// Width and Height are as a viewer shows the picture, after rotation; 0 for a PDF.
	Width, Height int

	// as stored, before rotation
	width, height int
	orientation   int
	colours       *colours // nil if they are those of sRGB
	// end is the size of a JPEG without an end-of-image marker, up to the zeros that may be in its place; else 0.
	end int64
	// missing are the segments that a JPEG lacks and its decoder needs.
	missing []byte
	// memory is the peak of the decoder, in bytes. lateMemory is the part of it
	// that is allocated at the end, after the code tables of a lossless WebP.
	memory, lateMemory int64
}

// IsPicture reports whether the file is a picture and not a PDF.
func (i Info) IsPicture() bool { return i.MediaType != PDF }

// Inspect detects the type of the size bytes of r by content. It returns a
// *FileError for other types and for pictures that are too large to decode. It
// reads the structure of a picture but no pixels, and keeps at most 128 KiB in memory.
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
		return Info{}, fileError(UnsupportedType, "The file's content is %s. %s", kind, wayOut(kind))
	}
	if err != nil || !info.IsPicture() {
		return info, err
	}
	return info.upright(), info.check()
}

// wayOut returns what to do with a file of another type.
func wayOut(kind string) string {
	switch kind {
	case "image/heic", "image/heic-sequence", "image/heif", "image/heif-sequence", "image/avif":
		return "Take a screenshot of the picture and send that, or save it as JPEG. On an iPhone: Settings, Camera, Formats, Most Compatible."
	}
	return "Send a PDF, JPEG, PNG or WebP file."
}

// headSize is the number of bytes that type detection reads.
const headSize = 3072

// kindOf returns the type that mimetype detects, but only if a picture begins with
// the exact signature of that type: mimetype accepts more, as browsers do.
func kindOf(head []byte) string {
	if beginsPDF(head) {
		return PDF
	}
	found := mimetype.Detect(head)
	for kind, signed := range map[string]bool{
		JPEG: hasPrefix(head, "\xff\xd8\xff"),
		PNG:  hasPrefix(head, "\x89PNG\r\n\x1a\n"),
		WebP: hasPrefix(head, "RIFF") && len(head) >= 12 && string(head[8:12]) == "WEBP",
	} {
		if signed && (found.Is(kind) || kind == PNG && found.Is("image/vnd.mozilla.apng")) {
			return kind
		}
	}
	if found.Is(PDF) || found.Is(JPEG) || found.Is(PNG) || found.Is(WebP) {
		return "like " + found.String() + ", but with a wrong beginning"
	}
	return found.String()
}

func hasPrefix(head []byte, prefix string) bool {
	return len(head) >= len(prefix) && string(head[:len(prefix)]) == prefix
}

// check checks the limits on pixels and memory.
func (i Info) check() error {
	switch {
	case i.width <= 0 || i.height <= 0:
		return fileError(Unreadable, "The picture has no pixels.")
	case i.width > MaxSide || i.height > MaxSide:
		return fileError(TooManyPixels, "The picture has %d × %d pixels. A side may have at most %d.", i.width, i.height, MaxSide)
	case int64(i.width)*int64(i.height) > MaxPixels:
		return fileError(TooManyPixels, "The picture has %d × %d pixels. Send one with at most 50 megapixels.", i.width, i.height)
	case i.peak() > decodeBudget:
		return fileError(NeedsTooMuchMemory, "The picture needs %d MB to decode. At most %d MB are allowed. Save it with fewer pixels, or take a screenshot of it and send that.",
			i.peak()>>20, decodeBudget>>20)
	}
	return nil
}

// peak returns the memory that a picture needs, in bytes. A large one is there together with its copy in the largest size.
func (i Info) peak() int64 {
	if int64(i.width)*int64(i.height) <= plainPixels {
		return i.memory
	}
	width, height := fit(i.width, i.height, DocumentSizes[0].Longest)
	return i.memory + 4*int64(width)*int64(height)
}

// errTooManyParts refuses a picture with more than maxParts chunks or segments.
func errTooManyParts(kind string) error {
	return fileError(TooComplex, "The %s has more than %d parts. Open it and save it again.", kind, maxParts)
}

// upright sets Width and Height as a viewer shows them.
func (i Info) upright() Info {
	i.Width, i.Height = i.width, i.height
	if i.orientation >= 5 {
		i.Width, i.Height = i.height, i.width
	}
	return i
}

// readAt fills p from offset at.
func readAt(r io.ReaderAt, p []byte, at int64) error {
	n, err := r.ReadAt(p, at)
	switch {
	case n == len(p):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return fileError(Truncated, "The file ends too early.")
	default:
		return fmt.Errorf("read upload: %w", err)
	}
}
