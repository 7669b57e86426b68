package e2e_test

import (
	"bytes"
	"sync"

	"github.com/touchline/touchline/internal/platform/picture/picturetest"
)

// jpegWithLocation returns a JPEG with an EXIF rotation and a GPS position.
func jpegWithLocation(width, height int) []byte {
	exif := append([]byte("Exif\x00\x00"), picturetest.EXIF(6)...)
	return picturetest.AfterSOI(picturetest.JPEG(picturetest.FourCorners(width, height)), picturetest.Segment(0xe1, exif))
}

// largePhoto returns a photo that is resized to all sizes. It is made once for all services.
var largePhoto = sync.OnceValue(func() []byte { return jpegWithLocation(1200, 800) })

// pngHeader returns a PNG that declares a size but has no pixels.
func pngHeader(width, height uint32) []byte {
	return bytes.Join([][]byte{
		[]byte(picturetest.Signature), picturetest.Header(width, height, 8, 6, 0), picturetest.Chunk("IDAT", nil), picturetest.Chunk("IEND", nil),
	}, nil)
}
