package picture

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"image/color"
	"io"
	"math"
)

// maxProfile bounds a colour profile in bytes. Those of cameras and phones have 500 to 3,200; larger ones are for printers.
const maxProfile = 64 << 10

// colours converts the colours of a picture to sRGB, which is what a picture without a profile has: those of every iPhone are in Display P3.
type colours struct {
	linear [3][256]float32 // the light of each value of red, green and blue
	matrix [3][3]float32   // to red, green and blue of sRGB
}

// fromD50 converts XYZ of a profile, whose white is D50, to the light of sRGB.
var fromD50 = [3][3]float64{{3.1338561, -1.6168667, -0.4906146}, {-0.9787684, 1.9161415, 0.0334540}, {0.0719453, -0.2289914, 1.4052427}}

// srgbValues are the values of sRGB for light from 0 to 1.
var srgbValues = func() (values [1 << 12]uint8) {
	for i := range values {
		light := float64(i) / float64(len(values)-1)
		v := 12.92 * light
		if light > 0.0031308 {
			v = 1.055*math.Pow(light, 1/2.4) - 0.055
		}
		values[i] = uint8(v*255 + 0.5)
	}
	return values
}()

// parseProfile returns the conversion of an ICC profile. It returns nil if there is nothing to convert: the profile is about that of sRGB, is
// not one of red, green and blue with three curves and a matrix (ICC.1, section 8.3), or is damaged. Browsers then show the values as they are, too.
func parseProfile(profile []byte) *colours {
	if len(profile) < 132 || string(profile[16:20]) != "RGB " || string(profile[20:24]) != "XYZ " {
		return nil
	}
	var c colours
	var toXYZ [3][3]float64
	for i, letter := range "rgb" {
		xyz, curve := tagOf(profile, string(letter)+"XYZ"), tagOf(profile, string(letter)+"TRC")
		light := curveOf(curve)
		if len(xyz) < 20 || light == nil {
			return nil
		}
		for j := range 3 {
			toXYZ[j][i] = fixed(xyz[8+4*j:])
		}
		for v := range 256 {
			c.linear[i][v] = float32(min(max(light(float64(v)/255), 0), 1))
		}
	}
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				c.matrix[i][j] += float32(fromD50[i][k] * toXYZ[k][j])
			}
		}
	}
	for _, p := range [][3]uint8{{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {128, 128, 128}, {32, 32, 32}, {220, 170, 140}} {
		r, g, b := c.convert(p[0], p[1], p[2])
		for i, v := range []uint8{r, g, b} {
			if max(v, p[i])-min(v, p[i]) > 2 {
				return &c
			}
		}
	}
	return nil
}

// tagOf returns the content of a tag of a profile, or nil.
func tagOf(profile []byte, name string) []byte {
	tags := profile[132:]
	for range binary.BigEndian.Uint32(profile[128:]) {
		if len(tags) < 12 {
			return nil
		}
		if string(tags[:4]) == name {
			at, size := int64(binary.BigEndian.Uint32(tags[4:])), int64(binary.BigEndian.Uint32(tags[8:]))
			if at+size > int64(len(profile)) {
				return nil
			}
			return profile[at : at+size]
		}
		tags = tags[12:]
	}
	return nil
}

// fixed reads a number with 16 bits before and after the point.
func fixed(b []byte) float64 { return float64(int32(binary.BigEndian.Uint32(b))) / (1 << 16) }

// curveOf returns the light of a value, both from 0 to 1, or nil.
func curveOf(tag []byte) func(float64) float64 {
	if len(tag) < 12 {
		return nil
	}
	body := tag[12:]
	switch string(tag[:4]) {
	case "curv":
		n := int64(binary.BigEndian.Uint32(tag[8:]))
		switch {
		case n == 0:
			return func(v float64) float64 { return v }
		case n*2 > int64(len(body)):
			return nil
		case n == 1:
			gamma := float64(binary.BigEndian.Uint16(body)) / 256
			return func(v float64) float64 { return math.Pow(v, gamma) }
		}
		return func(v float64) float64 {
			at := v * float64(n-1)
			low := min(int(at), int(n)-2)
			a, b := float64(binary.BigEndian.Uint16(body[2*low:])), float64(binary.BigEndian.Uint16(body[2*low+2:]))
			return (a + (b-a)*(at-float64(low))) / 65535
		}
	case "para":
		return parametric(binary.BigEndian.Uint16(tag[8:]), body)
	}
	return nil
}

// parametric returns the function of a parametric curve (ICC.1, section 10.18), or nil.
func parametric(kind uint16, body []byte) func(float64) float64 {
	counts := []int{1, 3, 4, 5, 7}
	if int(kind) >= len(counts) || len(body) < 4*counts[kind] {
		return nil
	}
	var p [7]float64
	for i := range counts[kind] {
		p[i] = fixed(body[4*i:])
	}
	g, a, b, c, d, e, f := p[0], p[1], p[2], p[3], p[4], p[5], p[6]
	switch kind {
	case 0:
		a, d = 1, 0
		b, c = 0, 0
	case 1, 2: // below -b/a the light is c
		if a == 0 {
			return nil
		}
		d, e, f, c = -b/a, c, c, 0
	}
	return func(v float64) float64 {
		if v < d {
			return c*v + f
		}
		return math.Pow(max(a*v+b, 0), g) + e
	}
}

// convert returns a colour in sRGB.
func (c *colours) convert(r, g, b uint8) (uint8, uint8, uint8) {
	x, y, z := c.linear[0][r], c.linear[1][g], c.linear[2][b]
	value := func(row *[3]float32) uint8 {
		const last = len(srgbValues) - 1
		return srgbValues[int(min(max(row[0]*x+row[1]*y+row[2]*z, 0), 1)*float32(last)+0.5)]
	}
	return value(&c.matrix[0]), value(&c.matrix[1]), value(&c.matrix[2])
}

// toSRGB returns m with its colours in sRGB. It changes the pixels in place where it can. c may be nil.
func (c *colours) toSRGB(m image.Image) image.Image {
	if c == nil {
		return m
	}
	var pix []byte
	switch from := m.(type) {
	case *image.RGBA: // opaque
		pix = from.Pix
	case *image.NRGBA:
		pix = from.Pix
	case *image.YCbCr:
		to := image.NewRGBA(from.Rect)
		for y := range from.Rect.Dy() {
			row := to.Pix[y*to.Stride:]
			for x := range from.Rect.Dx() {
				at := from.COffset(x, y)
				p := row[4*x : 4*x+4 : 4*x+4]
				p[0], p[1], p[2] = color.YCbCrToRGB(from.Y[from.YOffset(x, y)], from.Cb[at], from.Cr[at])
				p[3] = 0xff
			}
		}
		m, pix = to, to.Pix
	default: // grey
		return m
	}
	for ; len(pix) >= 4; pix = pix[4:] {
		pix[0], pix[1], pix[2] = c.convert(pix[0], pix[1], pix[2])
	}
	return m
}

// inflateProfile returns the profile in the chunk iCCP of a PNG, or nil: a name, a zero, the method and the compressed profile.
func inflateProfile(chunk []byte) []byte {
	_, rest, found := bytes.Cut(chunk, []byte{0})
	if !found || len(rest) < 1 || rest[0] != 0 {
		return nil
	}
	r, err := zlib.NewReader(bytes.NewReader(rest[1:]))
	if err != nil {
		return nil
	}
	profile, err := io.ReadAll(io.LimitReader(r, maxProfile+1))
	if err != nil || len(profile) > maxProfile {
		return nil
	}
	return profile
}
