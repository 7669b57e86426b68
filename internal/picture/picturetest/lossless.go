package picturetest

import "math/bits"

// bitWriter writes the bits of a lossless WebP, lowest first.
type bitWriter struct {
	out  []byte
	have uint
	acc  uint64
}

func (s *bitWriter) write(value uint64, n uint) {
	s.acc |= value << s.have
	for s.have += n; s.have >= 8; s.have -= 8 {
		s.out = append(s.out, byte(s.acc))
		s.acc >>= 8
	}
}

func (s *bitWriter) file() []byte { return RIFF(WebPChunk("VP8L", append(s.out, byte(s.acc)))) }

func lossless(width, height int) *bitWriter {
	s := new(bitWriter)
	s.write(0x2f, 8)
	s.write(uint64(width-1), 14)
	s.write(uint64(height-1), 14)
	s.write(1, 1) // alpha is used
	s.write(0, 3)
	return s
}

// singleSymbolCode writes a code with one symbol, which takes no bits.
func (s *bitWriter) singleSymbolCode(symbol uint64) {
	s.write(0b101, 3) // simple, one symbol, of 8 bits
	s.write(symbol, 8)
}

// FlatLossless returns a lossless WebP of one colour: a few bytes, whatever its
// size. With a palette the decoder needs two copies.
func FlatLossless(width, height int, palette bool) []byte {
	s := lossless(width, height)
	if palette {
		s.write(0b111, 3) // a transform: colour indexing
		s.write(255, 8)
		s.write(0, 1) // no colour cache
		for range 4 {
			s.singleSymbolCode(1) // deltas to the previous palette entry
		}
		s.singleSymbolCode(0)
	}
	s.write(0, 1)
	s.write(0, 2) // no colour cache, one group of codes
	for _, symbol := range []uint64{7, 20, 200, 255, 0} {
		s.singleSymbolCode(symbol)
	}
	return s.file()
}

// equalLengthCode writes a code of n symbols with two lengths that differ by one.
func (s *bitWriter) equalLengthCode(n int) {
	short := bits.Len(uint(n)) - 1
	shorter := 1<<(short+1) - n // number of codes with the shorter length
	s.write(0, 1)
	s.write(15, 4) // 19 lengths of lengths, in the format's order
	for _, length := range [19]int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} {
		switch length {
		case 16:
			s.write(1, 3)
		case short, short + 1:
			s.write(2, 3)
		default:
			s.write(0, 3)
		}
	}
	s.write(0, 1) // all of them
	// Canonical codes: 0 repeats the previous length, 10 is the shorter, 11 the longer.
	for _, part := range []struct {
		count int
		code  uint64
	}{{shorter, 0b01}, {n - shorter, 0b11}} {
		if part.count == 0 {
			continue
		}
		s.write(part.code, 2)
		for left := part.count - 1; left > 0; {
			if left < 3 {
				s.write(part.code, 2)
				left--
				continue
			}
			times := min(left, 6)
			s.write(0, 1)
			s.write(uint64(times-3), 2)
			left -= times
		}
	}
}

// ManyCodes returns a lossless WebP with many groups of the largest codes: 53 kB in
// the decoder for some 200 bytes of input. It has no pixels.
func ManyCodes(width, height, groups int) []byte {
	const tile = 6 // log2 of a tile's side
	s := lossless(width, height)
	s.write(0, 1)  // no transform
	s.write(1, 1)  // a colour cache
	s.write(11, 4) // of 2048
	s.write(1, 1)  // many groups
	s.write(tile-2, 3)
	s.write(0, 1) // no cache for the group index picture
	s.equalLengthCode(256 + 24)
	s.equalLengthCode(256)
	s.singleSymbolCode(0)
	s.singleSymbolCode(0)
	s.singleSymbolCode(0)
	across, down := (width+1<<tile-1)>>tile, (height+1<<tile-1)>>tile
	for i := range across * down {
		group := min(i, groups-1)
		s.symbol(group&255, 280) // green
		s.symbol(group>>8, 256)  // red
	}
	for range groups {
		s.equalLengthCode(256 + 24 + 2048)
		s.equalLengthCode(256)
		s.equalLengthCode(256)
		s.equalLengthCode(256)
		s.equalLengthCode(40)
	}
	return s.file()
}

// symbol writes one symbol of an equalLengthCode of n.
func (s *bitWriter) symbol(symbol, n int) {
	short := bits.Len(uint(n)) - 1
	shorter := 1<<(short+1) - n
	code, length := symbol, short
	if symbol >= shorter {
		code, length = symbol+shorter, short+1
	}
	s.write(uint64(bits.Reverse32(uint32(code))>>(32-length)), uint(length))
}
