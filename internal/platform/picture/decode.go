package picture

import (
	"bufio"
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"strings"

	"golang.org/x/image/webp"
)

// decode decodes the picture that info describes to 8 bits a colour: *image.YCbCr,
// *image.Gray, *image.RGBA (opaque) or *image.NRGBA (transparent).
func decode(ctx context.Context, src io.ReaderAt, size int64, info Info) (m image.Image, err error) {
	var file io.Reader = io.NewSectionReader(src, 0, size)
	if info.end > 0 {
		file = io.MultiReader(io.LimitReader(file, info.end), strings.NewReader("\xff\xd9"))
	}
	if len(info.missing) > 0 {
		file = io.MultiReader(io.LimitReader(file, 2), bytes.NewReader(info.missing), file) // after the first marker
	}
	w := newDecodeReader(ctx, bufio.NewReaderSize(file, heapCheckEvery), info)
	defer func() {
		// A decoder may panic on a damaged file.
		if recover() != nil {
			m, err = nil, w.decodeError(nil)
		}
	}()
	switch info.MediaType {
	case JPEG:
		m, err = jpeg.Decode(w)
	case PNG:
		m, err = png.Decode(w)
	case WebP:
		m, err = webp.Decode(w)
		fullRange(m)
	}
	if info.end > 0 && err != nil {
		err = io.ErrUnexpectedEOF // pixels are missing, too
	}
	if err != nil {
		return nil, w.decodeError(err)
	}
	if m.Bounds() != image.Rect(0, 0, info.width, info.height) {
		return nil, w.decodeError(nil) // the decoder and Inspect disagree
	}
	freeMemory(info)
	m = eightBit(m)
	if m == nil {
		return nil, w.decodeError(nil)
	}
	return m, nil
}

// fullRange stretches the colours of a lossy WebP in place: VP8 stores Y from 16 to 235, and Cb and Cr from 16 to 240 (BT.601),
// but x/image/webp returns them as an image.YCbCr, which has 0 to 255 (golang.org/issue/40173).
func fullRange(m image.Image) {
	var planes *image.YCbCr
	switch m := m.(type) {
	case *image.YCbCr:
		planes = m
	case *image.NYCbCrA:
		planes = &m.YCbCr
	default:
		return // a lossless WebP is RGB
	}
	for i, v := range planes.Y {
		planes.Y[i] = lumaRange[v]
	}
	for _, plane := range [][]uint8{planes.Cb, planes.Cr} {
		for i, v := range plane {
			plane[i] = chromaRange[v]
		}
	}
}

// lumaRange and chromaRange are the values of fullRange.
var lumaRange, chromaRange = func() (luma, chroma [256]uint8) {
	for v := range 256 {
		luma[v] = uint8(min(max((float64(v)-16)*255/219+0.5, 0), 255))
		chroma[v] = uint8(min(max(128+(float64(v)-128)*255/224+0.5, 0), 255))
	}
	return luma, chroma
}()

// eightBit converts m to one of the four types that the package handles, in place
// where possible. It returns nil for a type that no decoder returns.
func eightBit(m image.Image) image.Image {
	switch m := m.(type) {
	case *image.YCbCr, *image.Gray, *image.RGBA:
		return m
	case *image.NRGBA:
		return newNRGBA(m.Pix, m.Stride, m.Rect)
	case *image.Gray16:
		to8Bit(m.Pix)
		return &image.Gray{Pix: m.Pix[:len(m.Pix)/2], Stride: m.Stride / 2, Rect: m.Rect}
	case *image.RGBA64: // the PNG decoder returns it for opaque pictures only
		to8Bit(m.Pix)
		return &image.RGBA{Pix: m.Pix[:len(m.Pix)/2], Stride: m.Stride / 2, Rect: m.Rect}
	case *image.NRGBA64:
		to8Bit(m.Pix)
		return newNRGBA(m.Pix[:len(m.Pix)/2], m.Stride/2, m.Rect)
	case *image.CMYK:
		for p := m.Pix; len(p) >= 4; p = p[4:] {
			p[0], p[1], p[2] = color.CMYKToRGB(p[0], p[1], p[2], p[3])
			p[3] = 0xff
		}
		return &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
	case *image.Paletted:
		return fromPaletted(m)
	case *image.NYCbCrA:
		return fromNYCbCrA(m)
	default:
		return nil
	}
}

// to8Bit converts 16-bit samples to 8 bits in place, into the first half of pix.
func to8Bit(pix []byte) {
	for i := range len(pix) / 2 {
		pix[i] = pix[2*i]
	}
}

// newNRGBA returns pixels that are not premultiplied as an image: *image.RGBA if
// all are opaque, else *image.NRGBA.
func newNRGBA(pix []byte, stride int, r image.Rectangle) image.Image {
	m := &image.NRGBA{Pix: pix, Stride: stride, Rect: r}
	if m.Opaque() {
		return &image.RGBA{Pix: pix, Stride: stride, Rect: r}
	}
	return m
}

func fromPaletted(m *image.Paletted) image.Image {
	var colours [256][4]byte
	for i, c := range m.Palette {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		colours[i] = [4]byte{n.R, n.G, n.B, n.A}
	}
	out := image.NewNRGBA(m.Rect)
	for i, p := range m.Pix { // decoders leave no gap between rows
		copy(out.Pix[4*i:], colours[p][:])
	}
	return newNRGBA(out.Pix, out.Stride, out.Rect)
}

func fromNYCbCrA(m *image.NYCbCrA) image.Image {
	out := image.NewNRGBA(m.Rect)
	for y := range m.Rect.Dy() {
		row := out.Pix[y*out.Stride:]
		for x := range m.Rect.Dx() {
			ci := m.COffset(x, y)
			p := row[4*x : 4*x+4 : 4*x+4]
			p[0], p[1], p[2] = color.YCbCrToRGB(m.Y[m.YOffset(x, y)], m.Cb[ci], m.Cr[ci])
			p[3] = m.A[m.AOffset(x, y)]
		}
	}
	return newNRGBA(out.Pix, out.Stride, out.Rect)
}
