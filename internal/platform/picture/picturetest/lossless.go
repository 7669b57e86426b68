package picturetest

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"io"
)

// FlatLossless returns a lossless WebP of one colour: a few bytes, whatever its
// size. With a palette the decoder needs two copies.
func FlatLossless(width, height int, palette bool) []byte {
	if palette { // a transform with 256 colours, then as below
		return lossless(width, height, []byte("\xff\xd7\x80\x06\x34\xa0\x01\x05\x40\x0f\x4a\x51\xe4\xfe\x17\x00"))
	}
	// No transform and no cache; each of the five codes has one symbol, which takes no bits.
	return lossless(width, height, []byte("\xe8\x41\x29\x8a\xdc\xff\x02\x00"))
}

// manyCodes is the part of ManyCodes after its header.
//
//go:embed codes2600.vp8l.gz
var manyCodes []byte

// ManyCodes returns a lossless WebP of 4096 × 4096 pixels with 2600 groups of the largest
// codes: 53 kB in the decoder for some 200 bytes of input. It has no pixels.
func ManyCodes() []byte {
	r, err := gzip.NewReader(bytes.NewReader(manyCodes))
	if err != nil {
		panic(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return lossless(side, side, data)
}

// lossless returns a lossless WebP whose data follows the header of five bytes:
// signature, 14 bits each of width and height, alpha is used, version 0.
func lossless(width, height int, data []byte) []byte {
	header := binary.LittleEndian.AppendUint32([]byte{0x2f}, uint32(width-1)|uint32(height-1)<<14|1<<28)
	return RIFF(WebPChunk("VP8L", append(header, data...)))
}
