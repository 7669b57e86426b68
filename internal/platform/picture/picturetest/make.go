// Package picturetest makes pictures for tests: valid, large and hostile ones.
package picturetest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"slices"
)

// FourCorners returns a picture whose corners differ, to test the orientation: red
// at the top left, green at the top right, blue at the bottom left, white elsewhere.
func FourCorners(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.NRGBA{255, 255, 255, 255}
			switch left, top := x < width/2, y < height/2; {
			case left && top:
				c = color.NRGBA{255, 0, 0, 255}
			case top:
				c = color.NRGBA{0, 160, 0, 255}
			case left:
				c = color.NRGBA{0, 0, 255, 255}
			}
			m.SetNRGBA(x, y, c)
		}
	}
	return m
}

// PNG encodes m.
func PNG(m image.Image) []byte {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m); err != nil {
		panic(err) // a bytes.Buffer cannot fail
	}
	return b.Bytes()
}

// JPEG encodes m.
func JPEG(m image.Image) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		panic(err) // a bytes.Buffer cannot fail
	}
	return b.Bytes()
}

// Chunk returns a PNG chunk.
func Chunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// AfterHeader inserts chunks after the header of a PNG.
func AfterHeader(file []byte, chunks ...[]byte) []byte {
	const header = 8 + 25
	return bytes.Join([][]byte{file[:header], bytes.Join(chunks, nil), file[header:]}, nil)
}

// Header returns the IHDR chunk of a PNG.
func Header(width, height uint32, depth, colour, interlace byte) []byte {
	b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)
	return Chunk("IHDR", append(b, depth, colour, 0, 0, interlace))
}

// Signature is the first 8 bytes of a PNG.
const Signature = "\x89PNG\r\n\x1a\n"

// Segment returns a JPEG segment.
func Segment(marker byte, data []byte) []byte {
	return append([]byte{0xff, marker, byte((len(data) + 2) >> 8), byte(len(data) + 2)}, data...)
}

// AfterSOI inserts segments after the start of a JPEG.
func AfterSOI(file []byte, segments ...[]byte) []byte {
	return bytes.Join([][]byte{file[:2], bytes.Join(segments, nil), file[2:]}, nil)
}

// EXIF returns a TIFF directory with an orientation and a GPS position.
func EXIF(orientation uint16) []byte {
	b := []byte("MM\x00*\x00\x00\x00\x08\x00\x02")
	b = append(b, 0x01, 0x12, 0, 3, 0, 0, 0, 1, byte(orientation>>8), byte(orientation), 0, 0)
	b = append(b, 0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 38, 0, 0, 0, 0) // the GPS directory follows
	b = append(b, 0, 1, 0, 1, 0, 2, 0, 0, 0, 2)
	return append(b, "N\x00\x00\x00\x00\x00\x00\x00GPS 12.9716 N 77.5946 E"...)
}

// RIFF returns a WebP with these chunks.
func RIFF(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// WebPChunk returns a WebP chunk.
func WebPChunk(kind string, data []byte) []byte {
	b := append(binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(data))), data...)
	if len(data)%2 == 1 {
		b = append(b, 0)
	}
	return b
}

// VP8X returns the header chunk of an extended WebP.
func VP8X(flags byte, width, height int) []byte {
	w, h := width-1, height-1
	return WebPChunk("VP8X", []byte{flags, 0, 0, 0, byte(w), byte(w >> 8), byte(w >> 16), byte(h), byte(h >> 8), byte(h >> 16)})
}

// SyntheticJPEG returns a JPEG of one flat colour. If progressive, it has scans
// more scans after the first, each a few bytes that cover all blocks.
func SyntheticJPEG(sof byte, width, height int, sampling []byte, scans int) []byte {
	b := []byte{0xff, 0xd8}
	table := make([]byte, 65)
	for i := range table[1:] {
		table[1+i] = 1
	}
	b = append(b, Segment(0xdb, table)...)
	frame := []byte{8, byte(height >> 8), byte(height), byte(width >> 8), byte(width), byte(len(sampling))}
	for i, hv := range sampling {
		frame = append(frame, byte(i+1), hv, 0)
	}
	b = append(b, Segment(sof, frame)...)
	// Two 1-bit codes each: DC 0 and 1; AC 0x00 (end of block) and 0xe0 (end of 16384
	// blocks plus the number in the next 14 bits).
	lengths := append([]byte{2}, make([]byte, 15)...)
	b = append(b, Segment(0xc4, append(append([]byte{0x00}, lengths...), 0, 1))...)
	b = append(b, Segment(0xc4, append(append([]byte{0x10}, lengths...), 0, 0xe0))...)
	if sof != 0xc2 {
		return append(b, flatScan(width, height, sampling)...)
	}
	scan := []byte{byte(len(sampling))}
	for i := range sampling {
		scan = append(scan, byte(i+1), 0)
	}
	b = append(b, Segment(0xda, append(scan, 0, 0, 0))...)
	b = append(b, make([]byte, blocks(width, height, sampling, allComponents)/8+1)...)
	for i := range scans {
		component := 1 + i%len(sampling)
		b = append(b, Segment(0xda, []byte{1, byte(component), 0, 1, 63, 0})...)
		left := blocks(width, height, sampling, component)
		var bits []byte // of 15 each: code 1, then 14 ones: 32767 blocks
		for ; left > 0; left -= 32767 {
			bits = append(bits, bytes.Repeat([]byte{1}, 15)...)
		}
		b = append(b, packBits(bits)...)
	}
	return append(b, 0xff, 0xd9)
}

// packBits packs bits into bytes, pads with ones and stuffs 0xff.
func packBits(bits []byte) []byte {
	var out []byte
	for len(bits)%8 != 0 {
		bits = append(bits, 1)
	}
	for ; len(bits) > 0; bits = bits[8:] {
		v := byte(0)
		for _, bit := range bits[:8] {
			v = v<<1 | bit
		}
		if out = append(out, v); v == 0xff {
			out = append(out, 0)
		}
	}
	return out
}

const allComponents = 0

// blocks counts the blocks of a component from 1, or of all components for allComponents.
func blocks(width, height int, sampling []byte, component int) int {
	h0, v0 := int(sampling[0]>>4), int(sampling[0]&15)
	mx, my := (width+8*h0-1)/(8*h0), (height+8*v0-1)/(8*v0)
	n := 0
	for i, hv := range sampling {
		if component == allComponents || component == i+1 {
			n += mx * my * int(hv>>4) * int(hv&15)
		}
	}
	return n
}

// flatScan returns the scan of a baseline JPEG: a DC code and an end of block for each block.
func flatScan(width, height int, sampling []byte) []byte {
	scan := []byte{byte(len(sampling))}
	for i := range sampling {
		scan = append(scan, byte(i+1), 0)
	}
	b := Segment(0xda, append(scan, 0, 63, 0))
	b = append(b, make([]byte, blocks(width, height, sampling, allComponents)*2/8+1)...)
	return append(b, 0xff, 0xd9)
}

// Chroma subsampling of a JPEG.
var (
	YUV420 = []byte{0x22, 0x11, 0x11}
	YUV444 = []byte{0x11, 0x11, 0x11}
)

// SyntheticPNG returns a PNG whose samples are all 0.
func SyntheticPNG(width, height int, depth, colour, interlace byte, before ...[]byte) []byte {
	samples := map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
	var body bytes.Buffer
	z, _ := zlib.NewWriterLevel(&body, zlib.BestSpeed)
	rows := func(width, height int) {
		row := make([]byte, 1+(width*samples*int(depth)+7)/8)
		for range height {
			_, _ = z.Write(row)
		}
	}
	if interlace == 0 {
		rows(width, height)
	} else {
		for _, p := range [][4]int{{8, 8, 0, 0}, {8, 8, 4, 0}, {4, 8, 0, 4}, {4, 4, 2, 0}, {2, 4, 0, 2}, {2, 2, 1, 0}, {1, 2, 0, 1}} {
			if w, h := (width-p[2]+p[0]-1)/p[0], (height-p[3]+p[1]-1)/p[1]; w > 0 && h > 0 {
				rows(w, h)
			}
		}
	}
	_ = z.Close()
	parts := [][]byte{[]byte(Signature), Header(uint32(width), uint32(height), depth, colour, interlace)}
	return bytes.Join(append(append(parts, before...), Chunk("IDAT", body.Bytes()), Chunk("IEND", nil)), nil)
}

// DisplayP3 returns the ICC profile Display P3, as phones write it: three colours and one curve.
func DisplayP3() []byte {
	number := func(v float64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(int32(math.Round(v*65536)))) }
	xyz := func(x, y, z float64) []byte {
		return slices.Concat([]byte("XYZ \x00\x00\x00\x00"), number(x), number(y), number(z))
	}
	curve := slices.Concat([]byte("para\x00\x00\x00\x00\x00\x03\x00\x00"), number(2.4), number(1/1.055), number(0.055/1.055), number(1/12.92), number(0.04045))
	contents := [][]byte{xyz(0.51512, 0.2412, -0.00105), xyz(0.29198, 0.69225, 0.04189), xyz(0.1571, 0.06657, 0.78407), curve, curve, curve}
	names := []string{"rXYZ", "gXYZ", "bXYZ", "rTRC", "gTRC", "bTRC"}
	head := make([]byte, 128)
	copy(head[12:], "mntrRGB XYZ ")
	copy(head[36:], "acsp")
	table, body := binary.BigEndian.AppendUint32(nil, uint32(len(names))), []byte{}
	for i, content := range contents {
		table = append(table, names[i]...)
		table = binary.BigEndian.AppendUint32(table, uint32(132+12*len(names)+len(body)))
		table = binary.BigEndian.AppendUint32(table, uint32(len(content)))
		body = append(body, content...)
	}
	return slices.Concat(head, table, body)
}
