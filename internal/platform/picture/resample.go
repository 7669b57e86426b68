package picture

import (
	"context"
	"image"
	"math"
)

// kernelRadius is the radius of the Catmull-Rom kernel in target pixels.
const kernelRadius = 2

// kernel is the Catmull-Rom cubic: sharp, with little ringing.
func kernel(t float64) float64 {
	t = math.Abs(t)
	switch {
	case t < 1:
		return (1.5*t-2.5)*t*t + 1
	case t < 2:
		return ((-0.5*t+2.5)*t-4)*t + 2
	default:
		return 0
	}
}

// taps are the weights of consecutive source pixels, beginning at first, for one target pixel.
type taps struct {
	first   int
	weights []float32
}

// tapsFor returns the taps for scaling a line of from pixels to to pixels.
func tapsFor(from, to int) []taps {
	scale := float64(from) / float64(to)
	out := make([]taps, to)
	for i := range out {
		centre := (float64(i) + 0.5) * scale
		first := max(0, int(math.Ceil(centre-kernelRadius*scale-0.5)))
		last := min(from-1, int(math.Floor(centre+kernelRadius*scale-0.5)))
		weights, sum := make([]float32, last-first+1), 0.0
		for j := range weights {
			k := kernel((float64(first+j) + 0.5 - centre) / scale)
			weights[j], sum = float32(k), sum+k
		}
		for j := range weights {
			weights[j] /= float32(sum)
		}
		out[i] = taps{first, weights}
	}
	return out
}

// shrink scales m down to width × height. It works row by row and keeps only the
// rows that the kernel covers: the scaler of x/image/draw needs 134 MB of
// intermediate rows for the largest profile picture.
func shrink(ctx context.Context, m image.Image, width, height int) (image.Image, error) {
	from := m.Bounds()
	columns, lines := tapsFor(from.Dx(), width), tapsFor(from.Dy(), height)
	most := 0
	for _, line := range lines {
		most = max(most, len(line.weights))
	}
	ring := make([][]float32, most)
	for i := range ring {
		ring[i] = make([]float32, 4*width)
	}
	at, source, sum := pixelReader(m), make([]float32, 4*from.Dx()), make([]float32, 4*width)
	out, ready := make([]byte, 4*width*height), 0
	for y, line := range lines {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for ; ready < line.first+len(line.weights); ready++ {
			readRow(source, at, ready)
			scaleRow(ring[ready%len(ring)], source, columns)
		}
		clear(sum)
		for i, weight := range line.weights {
			for x, v := range ring[(line.first+i)%len(ring)] {
				sum[x] += weight * v
			}
		}
		if _, transparent := m.(*image.NRGBA); transparent {
			unpremultiply(sum)
		}
		for x, v := range sum {
			out[4*width*y+x] = uint8(min(max(v+0.5, 0), 255))
		}
	}
	r := image.Rect(0, 0, width, height)
	if _, ok := m.(*image.NRGBA); ok {
		return &image.NRGBA{Pix: out, Stride: 4 * width, Rect: r}, nil
	}
	return &image.RGBA{Pix: out, Stride: 4 * width, Rect: r}, nil
}

// halvedSide is the longer side from which halve works: pictures of 48 and 50 megapixels become about as large as the largest size.
const halvedSide = 7500

// halve returns a JPEG or WebP with a very long side in half its size, else m itself. Means of four samples take a tenth of the time of
// shrink, which takes 5 s for 50 megapixels.
func halve(m image.Image) image.Image {
	from, ok := m.(*image.YCbCr)
	if !ok || max(from.Rect.Dx(), from.Rect.Dy()) < halvedSide || min(from.Rect.Dx(), from.Rect.Dy()) < 2 {
		return m
	}
	to := image.NewYCbCr(image.Rect(0, 0, from.Rect.Dx()/2, from.Rect.Dy()/2), from.SubsampleRatio)
	halvePlane(to.Y, to.YStride, from.Y, from.YStride)
	halvePlane(to.Cb, to.CStride, from.Cb, from.CStride)
	halvePlane(to.Cr, to.CStride, from.Cr, from.CStride)
	return to
}

// halvePlane writes the means of four samples. The last row or column of from may be missing.
func halvePlane(to []byte, toStride int, from []byte, fromStride int) {
	lastRow := len(from)/fromStride - 1
	for y := range len(to) / toStride {
		a, b := from[min(2*y, lastRow)*fromStride:], from[min(2*y+1, lastRow)*fromStride:]
		for x := range toStride {
			left, right := min(2*x, fromStride-1), min(2*x+1, fromStride-1)
			to[y*toStride+x] = byte((int(a[left]) + int(a[right]) + int(b[left]) + int(b[right]) + 2) / 4)
		}
	}
}

// scaleRow scales one row.
func scaleRow(to, from []float32, columns []taps) {
	for x, column := range columns {
		var r, g, b, a float32
		p := from[4*column.first:]
		for i, weight := range column.weights {
			q := p[4*i : 4*i+4 : 4*i+4]
			r += weight * q[0]
			g += weight * q[1]
			b += weight * q[2]
			a += weight * q[3]
		}
		to[4*x], to[4*x+1], to[4*x+2], to[4*x+3] = r, g, b, a
	}
}

func unpremultiply(row []float32) {
	for p := row; len(p) >= 4; p = p[4:] {
		if a := p[3]; a > 0 {
			p[0], p[1], p[2] = p[0]*255/a, p[1]*255/a, p[2]*255/a
		}
	}
}

// readRow reads one row of a picture as premultiplied RGBA from 0 to 255. at is its
// pixelReader.
func readRow(to []float32, at func(x, y int, to []byte), y int) {
	pixel := make([]byte, 4)
	for x := range len(to) / 4 {
		at(x, y, pixel)
		a := float32(pixel[3])
		to[4*x], to[4*x+1], to[4*x+2], to[4*x+3] = float32(pixel[0])*a/255, float32(pixel[1])*a/255, float32(pixel[2])*a/255, a
	}
}
