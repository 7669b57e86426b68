package picture

import (
	"image"
	"image/color"
)

// orient applies an EXIF orientation to m; it returns m itself if there is nothing to do.
func orient(m image.Image, orientation int) image.Image {
	if orientation <= 1 || orientation > 8 {
		return m
	}
	w, h := m.Bounds().Dx(), m.Bounds().Dy()
	width, height := w, h
	if orientation >= 5 {
		width, height = h, w
	}
	out := pixelBuffer(m, 4*width*height)
	// The source of pixel (0, 0), and the source steps for one pixel right and down.
	type step struct{ x, y int }
	t := [9]struct{ from, right, down step }{
		2: {step{w - 1, 0}, step{-1, 0}, step{0, 1}},
		3: {step{w - 1, h - 1}, step{-1, 0}, step{0, -1}},
		4: {step{0, h - 1}, step{1, 0}, step{0, -1}},
		5: {step{0, 0}, step{0, 1}, step{1, 0}},
		6: {step{0, h - 1}, step{0, -1}, step{1, 0}},
		7: {step{w - 1, h - 1}, step{0, -1}, step{-1, 0}},
		8: {step{w - 1, 0}, step{0, 1}, step{-1, 0}},
	}[orientation]
	at := pixelReader(m)
	for y := range height {
		row := out[4*y*width:]
		sx, sy := t.from.x+y*t.down.x, t.from.y+y*t.down.y
		for x := range width {
			at(sx, sy, row[4*x:4*x+4:4*x+4])
			sx, sy = sx+t.right.x, sy+t.right.y
		}
	}
	r := image.Rect(0, 0, width, height)
	if _, ok := m.(*image.NRGBA); ok {
		return &image.NRGBA{Pix: out, Stride: 4 * width, Rect: r}
	}
	return &image.RGBA{Pix: out, Stride: 4 * width, Rect: r}
}

// pixelBuffer returns n bytes for the rotated picture. It reuses the spare half
// that a 16-bit picture leaves after to8Bit, because a third copy would exceed the budget.
func pixelBuffer(m image.Image, n int) []byte {
	var pix []byte
	switch m := m.(type) {
	case *image.NRGBA:
		pix = m.Pix
	case *image.RGBA:
		pix = m.Pix
	}
	if spare := pix[len(pix):cap(pix)]; len(spare) >= n {
		return spare[:n]
	}
	return make([]byte, n)
}

// pixelReader returns a function that copies one pixel of m as RGBA.
func pixelReader(m image.Image) func(x, y int, to []byte) {
	switch m := m.(type) {
	case *image.YCbCr:
		return func(x, y int, to []byte) {
			ci := m.COffset(x, y)
			to[0], to[1], to[2] = color.YCbCrToRGB(m.Y[y*m.YStride+x], m.Cb[ci], m.Cr[ci])
			to[3] = 0xff
		}
	case *image.Gray:
		return func(x, y int, to []byte) {
			v := m.Pix[y*m.Stride+x]
			to[0], to[1], to[2], to[3] = v, v, v, 0xff
		}
	case *image.NRGBA:
		return func(x, y int, to []byte) { copy(to, m.Pix[y*m.Stride+4*x:]) }
	default:
		rgba := m.(*image.RGBA)
		return func(x, y int, to []byte) { copy(to, rgba.Pix[y*rgba.Stride+4*x:]) }
	}
}
