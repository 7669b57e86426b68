package picture

import (
	"bufio"
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"sync"
)

const (
	// A decoder processes the whole picture once per scan, however few bytes the
	// scan has. Encoders write about 10 scans. The limits are for pictures of
	// plainPixels and for small ones.
	maxScansAtPlainPixels = 32
	maxScans              = 100
)

// JPEG markers (ITU T.81, table B.1).
const (
	mSOF0, mSOF1, mSOF2 = 0xc0, 0xc1, 0xc2
	mDHT, mJPG, mDAC    = 0xc4, 0xc8, 0xcc
	mRST0, mRST7        = 0xd0, 0xd7
	mSOI, mEOI, mSOS    = 0xd8, 0xd9, 0xda
	mAPP0, mAPP1, mAPP2 = 0xe0, 0xe1, 0xe2
	mAPP14              = 0xee
	mTEM                = 0x01
)

// jpegHeader collects the headers of a JPEG.
type jpegHeader struct {
	Info
	components  []component
	progressive bool
	scans       int
	jfif        bool
	adobe       bool // it has an Adobe segment
	asRGB       bool
	tables      bool   // it has Huffman tables before its first scan
	profile     []byte // of the segments so far
	profiles    int    // segments
}

type component struct{ id, h, v int }

// inspectJPEG reads every segment and scan up to the end-of-image marker. Bytes
// after it are ignored and not stored. Some phones write no marker, or zeros in its place: then
// decode finds out whether pixels are missing. It has at most maxParts segments.
func inspectJPEG(r io.ReaderAt, size int64) (Info, error) {
	h := jpegHeader{Info: Info{MediaType: JPEG}}
	b := bufio.NewReaderSize(io.NewSectionReader(r, 2, size-2), 32<<10)
	segments := 0
	for {
		marker, err := nextMarker(b)
		if h.scans > 0 && errors.Is(err, io.EOF) {
			h.end, err = endOfData(r, size)
			if err != nil {
				return Info{}, err
			}
			break
		}
		if err != nil {
			return Info{}, truncatedIfEOF(err)
		}
		if marker == mEOI {
			break
		}
		if marker == mTEM || mRST0 <= marker && marker <= mRST7 {
			continue
		}
		if segments++; segments > maxParts {
			return Info{}, errTooManyParts("JPEG")
		}
		if err := h.segment(b, marker); err != nil {
			return Info{}, truncatedIfEOF(err)
		}
	}
	if h.scans == 0 || len(h.components) == 0 {
		return Info{}, fileError(Unreadable, "The JPEG contains no picture.")
	}
	if err := h.checkScans(); err != nil {
		return Info{}, err
	}
	if len(h.components) == 3 {
		h.colours = parseProfile(h.profile)
	}
	h.memory, h.lateMemory = h.decodeMemory(), 0
	h.missing = h.missingSegments()
	return h.Info, nil
}

// missingSegments returns the segments that browsers assume and image/jpeg needs: the standard Huffman tables, which a frame of Motion JPEG
// leaves out, and that four colours without a mark are CMYK as Adobe writes it.
func (h *jpegHeader) missingSegments() []byte {
	var all []byte
	if !h.tables && !h.progressive {
		all = append(all, standardTables()...)
	}
	if !h.adobe && len(h.components) == 4 {
		all = append(all, "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"...)
	}
	return all
}

// standardTables returns a segment with the Huffman tables of ITU T.81, annex K.3. image/jpeg writes them.
var standardTables = sync.OnceValue(func() []byte {
	var file bytes.Buffer
	_ = jpeg.Encode(&file, image.NewYCbCr(image.Rect(0, 0, 8, 8), image.YCbCrSubsampleRatio444), nil)
	b := file.Bytes()
	start := bytes.Index(b, []byte{0xff, mDHT})
	return b[start : start+2+int(b[start+2])<<8+int(b[start+3])]
})

// endOfData returns the size of a file without the zeros at its end.
func endOfData(r io.ReaderAt, size int64) (int64, error) {
	b := make([]byte, min(size, 4<<10))
	for end := size; end > 0; {
		part := b[:min(end, int64(len(b)))]
		end -= int64(len(part))
		if err := readAt(r, part, end); err != nil {
			return 0, err
		}
		kept := bytes.TrimRight(part, "\x00")
		if n := len(kept); n > 0 && kept[n-1] == 0xff && n < len(part) {
			return end + int64(n) + 1, nil // 0xff with a zero is a byte of the picture
		} else if n > 0 {
			return end + int64(n), nil
		}
	}
	return size, nil
}

// nextMarker skips entropy-coded data and stray bytes up to the next marker, as decoders do.
func nextMarker(b *bufio.Reader) (byte, error) {
	for {
		if _, err := b.ReadSlice(0xff); err != nil {
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			return 0, err
		}
		marker, err := b.ReadByte()
		for err == nil && marker == 0xff {
			marker, err = b.ReadByte()
		}
		if err != nil || marker != 0 {
			return marker, err
		}
	}
}

// segment reads one segment that has a length.
func (h *jpegHeader) segment(b *bufio.Reader, marker byte) error {
	var length [2]byte
	if _, err := io.ReadFull(b, length[:]); err != nil {
		return err
	}
	n := int(length[0])<<8 + int(length[1]) - 2
	if n < 0 {
		return fileError(Unreadable, "The JPEG is damaged: a segment has no length.")
	}
	switch {
	case marker == mSOF0, marker == mSOF1, marker == mSOF2,
		marker == mAPP0, marker == mAPP1, marker == mAPP2, marker == mAPP14:
		body := make([]byte, n)
		if _, err := io.ReadFull(b, body); err != nil {
			return err
		}
		return h.header(marker, body)
	case mSOF0 <= marker && marker <= 0xcf && marker != mDHT:
		return fileError(Unreadable, "The JPEG uses a rare coding (lossless, hierarchical or arithmetic). Save it as an ordinary JPEG.")
	case marker == mSOS:
		h.scans++
	case marker == mDHT && h.scans == 0:
		h.tables = true
	}
	_, err := b.Discard(n)
	return err
}

func (h *jpegHeader) header(marker byte, body []byte) error {
	switch marker {
	case mAPP0:
		h.jfif = h.jfif || bytes.HasPrefix(body, []byte("JFIF\x00"))
	case mAPP1:
		if tiff, ok := bytes.CutPrefix(body, []byte("Exif\x00\x00")); ok && h.orientation == 0 {
			h.orientation = orientation(tiff)
		}
	case mAPP2:
		if part, ok := bytes.CutPrefix(body, []byte("ICC_PROFILE\x00")); ok && len(part) > 2 && len(h.profile)+len(part) <= maxProfile {
			// A number and the count of the parts come first. Parts in another order give no profile.
			if h.profiles++; int(part[0]) == h.profiles {
				h.profile = append(h.profile, part[2:]...)
			}
		}
	case mAPP14:
		h.adobe = h.adobe || len(body) >= 12 && bytes.HasPrefix(body, []byte("Adobe"))
		h.asRGB = h.asRGB || len(body) >= 12 && bytes.HasPrefix(body, []byte("Adobe")) && body[11] == 0
	default:
		return h.frameHeader(marker, body)
	}
	return nil
}

// frameHeader reads a start-of-frame segment.
func (h *jpegHeader) frameHeader(marker byte, body []byte) error {
	if len(h.components) > 0 {
		return fileError(Unreadable, "The JPEG is damaged: it has two frame headers.")
	}
	if len(body) < 6 || len(body) != 6+3*int(body[5]) {
		return fileError(Unreadable, "The JPEG's header is damaged.")
	}
	if body[0] != 8 || body[5] != 1 && body[5] != 3 && body[5] != 4 {
		return fileError(Unreadable, "The JPEG has %d bits for each of %d colours. Save it with 8 bits and 1, 3 or 4 colours.", body[0], body[5])
	}
	h.progressive = marker == mSOF2
	h.height, h.width = int(body[1])<<8|int(body[2]), int(body[3])<<8|int(body[4])
	for c := body[6:]; len(c) > 0; c = c[3:] {
		h.components = append(h.components, component{int(c[0]), int(c[1] >> 4), int(c[1] & 15)})
	}
	if len(h.components) == 1 {
		h.components[0].h, h.components[0].v = 1, 1
	}
	for _, c := range h.components {
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 {
			return fileError(Unreadable, "The JPEG's header is damaged.")
		}
	}
	return h.check()
}

func (h *jpegHeader) checkScans() error {
	pixels := max(int64(h.width)*int64(h.height), 1)
	if most := min(maxScans, maxScansAtPlainPixels*plainPixels/pixels); int64(h.scans) > most {
		return fileError(TooComplex, "The JPEG has %d scans. At most %d are allowed at this size. Save it as an ordinary JPEG.", h.scans, most)
	}
	return nil
}

// decodeMemory returns the peak of image/jpeg in bytes: whole blocks of 8×8 samples
// for each colour, 4 more bytes a sample if progressive, and 4 bytes a pixel if the
// result is RGB or CMYK.
func (h *jpegHeader) decodeMemory() int64 {
	first := h.components[0]
	units := int64(h.width+8*first.h-1) / int64(8*first.h) * (int64(h.height+8*first.v-1) / int64(8*first.v))
	var blocks int64
	for _, c := range h.components {
		blocks += units * int64(c.h*c.v)
	}
	need := 64 * blocks
	if h.progressive {
		need += 4 * 64 * blocks
	}
	ids := h.components
	named := len(ids) == 3 && ids[0].id == 'R' && ids[1].id == 'G' && ids[2].id == 'B'
	if len(ids) == 4 || len(ids) == 3 && !h.jfif && (h.asRGB || named) {
		need += 4 * int64(h.width) * int64(h.height)
	}
	return need
}

// truncatedIfEOF converts an unexpected end of file to a FileError.
func truncatedIfEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fileError(Truncated, "The picture has no end. It is incomplete or damaged.")
	}
	return err
}
