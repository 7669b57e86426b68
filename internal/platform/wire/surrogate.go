package wire

import (
	"strconv"
	"unicode/utf16"
)

// loneSurrogate reports whether valid JSON escapes half of a surrogate pair.
// encoding/json would silently replace it with U+FFFD.
func loneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		unit, ok := unicodeEscape(raw, i)
		if !ok {
			i++ // skip the escaped character, which may be a backslash
			continue
		}
		i += 5
		if !utf16.IsSurrogate(unit) {
			continue
		}
		low, ok := unicodeEscape(raw, i+1)
		if !ok || utf16.DecodeRune(unit, low) == '\uFFFD' {
			return true
		}
		i += 6
	}
	return false
}

// unicodeEscape returns the UTF-16 code unit of the \uXXXX that begins at i.
func unicodeEscape(raw []byte, i int) (rune, bool) {
	if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 32)
	return rune(n), err == nil
}
