package picturetest

import (
	"image"
	"math/rand/v2"
)

// HeavyPicture is a picture that needs much memory to decode.
type HeavyPicture struct {
	Name string
	Make func() []byte
	// Accepted reports whether it fits the memory budget.
	Accepted bool
}

// side is the side of a square of 16 megapixels.
const side = 4096

// HeavyPictures returns the most expensive picture of each type. Decoding the
// accepted ones must not bring the process above 192 MB.
func HeavyPictures() []HeavyPicture {
	square := image.Rect(0, 0, side, side)
	return []HeavyPicture{
		{"PNG, 8 bits", func() []byte { return PNG(photo(image.NewNRGBA(square), true)) }, true},
		{"PNG, 8 bits, transparent", func() []byte { return PNG(photo(image.NewNRGBA(square), false)) }, true},
		{"PNG, 16 bits", func() []byte { return PNG(image16(square, 0xff)) }, true},
		{"PNG, 16 bits, transparent", func() []byte { return PNG(image16(square, 0x80)) }, true},
		{"PNG, 16 bits, rotated", func() []byte { return SyntheticPNG(side, side, 16, 6, 0, Chunk("eXIf", EXIF(6))) }, true},
		{"PNG, palette", func() []byte { return SyntheticPNG(side, side, 8, 3, 0, Chunk("PLTE", make([]byte, 768))) }, true},
		{"PNG, 8 bits, interlaced", func() []byte { return SyntheticPNG(side, side, 8, 6, 1) }, true},
		{"PNG, 16 bits, interlaced, 12 MP", func() []byte { return SyntheticPNG(4000, 3000, 16, 6, 1) }, true},
		{"PNG, 16 bits, interlaced, 16 MP", func() []byte { return SyntheticPNG(side, side, 16, 6, 1) }, false},
		{"JPEG, 4:2:0", func() []byte { return JPEG(photo(image.NewNRGBA(square), true)) }, true},
		{"JPEG, 4:4:4, rotated", func() []byte {
			return AfterSOI(SyntheticJPEG(0xc0, side, side, YUV444, 0), Segment(0xe1, append([]byte("Exif\x00\x00"), EXIF(6)...)))
		}, true},
		{"JPEG, progressive, 4:2:0", func() []byte { return SyntheticJPEG(0xc2, side, side, YUV420, 10) }, true},
		{"JPEG, progressive, 4:2:0, rotated, 32 scans", func() []byte {
			return AfterSOI(SyntheticJPEG(0xc2, side, side, YUV420, 31), Segment(0xe1, append([]byte("Exif\x00\x00"), EXIF(6)...)))
		}, true},
		{"JPEG, progressive, 4:4:4, 9 MP", func() []byte { return SyntheticJPEG(0xc2, 3456, 2592, YUV444, 10) }, true},
		{"JPEG, progressive, 4:4:4, 16 MP", func() []byte { return SyntheticJPEG(0xc2, side, side, YUV444, 10) }, false},
		{"JPEG, CMYK", func() []byte {
			return AfterSOI(SyntheticJPEG(0xc0, side, side, []byte{0x11, 0x11, 0x11, 0x11}, 0), Segment(0xee, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00")))
		}, true},
		{"WebP, lossless", func() []byte { return FlatLossless(side, side, false) }, true},
		{"WebP, lossless, palette", func() []byte { return FlatLossless(side, side, true) }, true},
		{"WebP, lossless, 2600 codes", func() []byte { return ManyCodes() }, false},
	}
}

// photo fills m with pixels that compress badly, as in a photograph.
func photo(m *image.NRGBA, opaque bool) *image.NRGBA {
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(m.Pix); i += 4 {
		v := uint32(i>>9) + r.Uint32()&0x0f
		m.Pix[i], m.Pix[i+1], m.Pix[i+2], m.Pix[i+3] = byte(v), byte(v>>3), byte(v>>5), 0xff
		if !opaque {
			m.Pix[i+3] = byte(v >> 7)
		}
	}
	return m
}

func image16(r image.Rectangle, alpha byte) *image.NRGBA64 {
	m := image.NewNRGBA64(r)
	for i := 0; i < len(m.Pix); i += 8 {
		copy(m.Pix[i:], []byte{byte(i >> 10), 1, byte(i >> 12), 2, byte(i >> 14), 3, alpha, alpha})
	}
	return m
}
