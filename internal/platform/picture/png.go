package picture

import (
	"encoding/binary"
	"io"
)

// inspectPNG reads the chunk headers to the end, the image header and the
// orientation. It inflates nothing but a colour profile. Of an animated PNG only the still picture is
// used; other chunks are ignored and not stored. It has at most maxParts chunks.
func inspectPNG(r io.ReaderAt, size int64) (Info, error) {
	info := Info{MediaType: PNG}
	var header [13]byte
	transparent, data := false, false
	chunks := 0
	for at := int64(8); ; {
		if chunks++; chunks > maxParts {
			return Info{}, errTooManyParts("PNG")
		}
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
			return Info{}, fileError(Unreadable, "The PNG is damaged: its header is not at the beginning.")
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
		case kind == "iCCP" && length <= maxProfile && info.colours == nil:
			profile := make([]byte, length)
			if err := readAt(r, profile, at); err != nil {
				return Info{}, err
			}
			info.colours = parseProfile(inflateProfile(profile))
		case kind == "eXIf" && info.orientation == 0:
			tiff := make([]byte, min(length, maxEXIF))
			if err := readAt(r, tiff, at); err != nil {
				return Info{}, err
			}
			info.orientation = orientation(tiff)
		case kind == "IEND":
			if !data {
				return Info{}, fileError(Unreadable, "The PNG contains no picture.")
			}
			info.memory = pngMemory(info, header, transparent)
			return info, nil
		}
		at += length + 4 // data and checksum
	}
}

// pngMemory returns the peak of image/png in bytes. An interlaced picture is held
// whole together with the last of its seven passes, which is half its size.
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
		need += 4 * int64(info.width) * int64(info.height) // converted to RGBA
	}
	return need + 4*8*int64(info.width) // rows
}
