package wire

import (
	"strconv"
	"unicode/utf16"
)

// loneSurrogate says whether valid JSON escapes half of a surrogate pair: the
// decoder would silently put another character in its place.
func loneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		unit, ok := escaped(raw, i)
		if !ok {
			i++ // what is escaped may be another backslash
			continue
		}
		i += 5
		if !utf16.IsSurrogate(unit) {
			continue
		}
		low, ok := escaped(raw, i+1)
		if !ok || utf16.DecodeRune(unit, low) == '\uFFFD' {
			return true
		}
		i += 6
	}
	return false
}

// escaped returns the UTF-16 unit of a \uXXXX that begins at i.
func escaped(raw []byte, i int) (rune, bool) {
	if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 32)
	return rune(n), err == nil
}
