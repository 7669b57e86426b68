package picture

import (
	"encoding/binary"
	"io"
)

// inspectPNG goes over the chunks to the end, reads the header and which way up it
// is, and inflates nothing. Of an animated PNG the still picture is taken, which
// every PNG has; other chunks are neither looked at nor kept.
func inspectPNG(r io.ReaderAt, size int64) (Info, error) {
	info := Info{MediaType: PNG}
	var header [13]byte
	transparent, data := false, false
	for at := int64(8); ; {
		var chunk [8]byte
		if err := readAt(r, chunk[:], at); err != nil {
			return Info{}, truncatedIfEOF(err)
		}
		length, kind := int64(binary.BigEndian.Uint32(chunk[:])), string(chunk[4:])
		at += 8
		switch {
		case at+length+4 > size:
			return Info{}, truncatedIfEOF(io.EOF)
		case (at == 16) != (kind == "IHDR") || kind == "IHDR" && length != int64(len(header)):
			return Info{}, fileError(Unreadable, "The PNG does not begin with its header.")
		case kind == "IHDR":
			if err := readAt(r, header[:], at); err != nil {
				return Info{}, err
			}
			width, height := binary.BigEndian.Uint32(header[:]), binary.BigEndian.Uint32(header[4:])
			info.width, info.height = int(min(width, 1<<31-1)), int(min(height, 1<<31-1))
			if err := info.check(); err != nil {
				return Info{}, err
			}
		case kind == "IDAT":
			data = true
		case kind == "tRNS":
			transparent = true
		case kind == "eXIf" && info.orientation == 0:
			tiff := make([]byte, min(length, maxEXIF))
			if err := readAt(r, tiff, at); err != nil {
				return Info{}, err
			}
			info.orientation = orientation(tiff)
		case kind == "IEND":
			if !data {
				return Info{}, fileError(Unreadable, "The PNG holds no picture.")
			}
			info.memory = pngMemory(info, header, transparent)
			return info, nil
		}
		at += length + 4 // and the checksum
	}
}

// pngMemory is what the standard library's decoder holds. An interlaced picture is
// there whole, beside the last of its seven passes, which is half of it.
func pngMemory(info Info, header [13]byte, transparent bool) int64 {
	depth, colour, interlaced := header[8], header[9], header[12] != 0
	var each int64 // bytes a pixel
	switch {
	case colour == 3:
		each = 1
	case colour == 0 && !transparent:
		each = 1
	default:
		each = 4
	}
	if depth == 16 {
		each *= 2
	}
	need := each * int64(info.width) * int64(info.height)
	if interlaced {
		need += need / 2
	}
	if colour == 3 {
		need += 4 * int64(info.width) * int64(info.height) // without its palette
	}
	return need + 4*8*int64(info.width) // rows
}
