package picture

import (
	"encoding/binary"
	"io"
)

// inspectWebP reads the RIFF chunks. It refuses animations. The picture must have
// the size of the canvas, because decoders trust either one. It has at most maxParts chunks.
func inspectWebP(r io.ReaderAt, size int64) (Info, error) {
	var head [12]byte
	if err := readAt(r, head[:], 0); err != nil {
		return Info{}, truncatedIfEOF(err)
	}
	end := 8 + int64(binary.LittleEndian.Uint32(head[4:]))
	if end > size {
		return Info{}, truncatedIfEOF(io.EOF)
	}
	w := webpHeader{Info: Info{MediaType: WebP}}
	chunks := 0
	for at := int64(12); at < end; {
		if chunks++; chunks > maxParts {
			return Info{}, errTooManyParts("WebP")
		}
		var chunk [8]byte
		if at+8 > end {
			return Info{}, truncatedIfEOF(io.EOF)
		}
		if err := readAt(r, chunk[:], at); err != nil {
			return Info{}, err
		}
		length := int64(binary.LittleEndian.Uint32(chunk[4:]))
		at += 8
		if at+length > end {
			return Info{}, truncatedIfEOF(io.EOF)
		}
		if err := w.chunk(r, string(chunk[:4]), at, length); err != nil {
			return Info{}, err
		}
		at += length + length&1
	}
	if !w.found {
		return Info{}, fileError(Unreadable, "The WebP contains no picture.")
	}
	if w.canvas && (w.width != w.canvasWidth || w.height != w.canvasHeight) {
		return Info{}, fileError(Unreadable, "The WebP is damaged: its picture and its canvas differ in size.")
	}
	w.memory, w.lateMemory = w.decodeMemory(size)
	return w.Info, nil
}

type webpHeader struct {
	Info
	canvas                    bool
	canvasWidth, canvasHeight int
	found, lossless, alpha    bool
}

func (w *webpHeader) chunk(r io.ReaderAt, kind string, at, length int64) error {
	var b [10]byte
	head := b[:min(length, int64(len(b)))]
	if err := readAt(r, head, at); err != nil {
		return err
	}
	switch kind {
	case "ANIM", "ANMF":
		return fileError(Animated, "The WebP is an animation. Send a still picture.")
	case "VP8X":
		if len(head) < 10 || w.canvas || w.found {
			return fileError(Unreadable, "The WebP's header is damaged.")
		}
		if head[0]&2 != 0 {
			return fileError(Animated, "The WebP is an animation. Send a still picture.")
		}
		w.canvas = true
		w.canvasWidth, w.canvasHeight = 1+int(uint24(head[4:])), 1+int(uint24(head[7:]))
	case "ALPH":
		w.alpha = true
	case "VP8 ":
		if w.found {
			return nil // decoders use the first
		}
		if len(head) < 10 || head[0]&1 != 0 || string(head[3:6]) != "\x9d\x01\x2a" {
			return fileError(Unreadable, "The WebP's picture is damaged.")
		}
		w.found = true
		w.width, w.height = int(binary.LittleEndian.Uint16(head[6:])&0x3fff), int(binary.LittleEndian.Uint16(head[8:])&0x3fff)
		return w.check()
	case "VP8L":
		if w.found {
			return nil
		}
		if len(head) < 5 || head[0] != 0x2f {
			return fileError(Unreadable, "The WebP's picture is damaged.")
		}
		w.found, w.lossless = true, true
		bits := binary.LittleEndian.Uint32(head[1:])
		w.width, w.height = 1+int(bits&0x3fff), 1+int(bits>>14&0x3fff)
		return w.check()
	case "ICCP":
		if length <= maxProfile {
			profile := make([]byte, length)
			if err := readAt(r, profile, at); err != nil {
				return err
			}
			w.colours = parseProfile(profile)
		}
	case "EXIF":
		tiff := make([]byte, min(length, maxEXIF))
		if err := readAt(r, tiff, at); err != nil {
			return err
		}
		if len(tiff) > 6 && string(tiff[:6]) == "Exif\x00\x00" {
			tiff = tiff[6:] // some encoders write the prefix of a JPEG
		}
		w.orientation = orientation(tiff)
	}
	return nil
}

// decodeMemory returns the peak of x/image/webp in bytes, and how much of it is
// allocated at the end, after the code tables: see decodeReader.
func (w *webpHeader) decodeMemory(size int64) (need, pixels int64) {
	area := int64(w.width) * int64(w.height)
	if w.lossless {
		return 8 * area, 4 * area // a palette needs a second copy
	}
	need = 3*(area+32*int64(w.width+w.height))/2 + size
	if w.alpha {
		// The alpha channel is a lossless picture, then one byte a pixel; it is merged
		// with the colours into 4 bytes a pixel.
		return max(5*area, need+5*area), 4 * area
	}
	return need, 0
}

func uint24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }
