package e2e_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
)

// cornerImage returns an image that is red at the top left, green at the top
// right, blue at the bottom left and white elsewhere, so that a test can see its
// rotation.
func cornerImage(width, height int) *image.NRGBA {
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

func jpegOf(m image.Image) []byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, m, nil) // writing to a buffer cannot fail
	return b.Bytes()
}

func pngOf(m image.Image) []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, m) // writing to a buffer cannot fail
	return b.Bytes()
}

// jpegWithLocation returns a JPEG with an EXIF rotation and a GPS position.
func jpegWithLocation(width, height int) []byte {
	exif := []byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x02\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x88\x25\x00\x04\x00\x00\x00\x01\x00\x00\x00\x26\x00\x00\x00\x00")
	exif = append(exif, "\x00\x01\x00\x01\x00\x02\x00\x00\x00\x02N\x00\x00\x00\x00\x00\x00\x00GPS 12.9716 N 77.5946 E"...)
	segment := append([]byte{0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	plain := jpegOf(cornerImage(width, height))
	return slices.Concat(plain[:2], segment, plain[2:])
}

// pngHeader returns a PNG that declares a size but has no pixels.
func pngHeader(width, height uint32) []byte {
	data := append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), width), height), 8, 6, 0, 0, 0)
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), data...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(data))
	return append(b, "\x00\x00\x00\x00IDAT\x35\xaf\x06\x1e\x00\x00\x00\x00IEND\xae\x42\x60\x82"...)
}

// withChunk inserts a chunk after a PNG's header.
func withChunk(file []byte, kind, data string) []byte {
	c := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	c = append(append(c, kind...), data...)
	c = binary.BigEndian.AppendUint32(c, crc32.ChecksumIEEE(c[4:]))
	return slices.Concat(file[:33], c, file[33:])
}
