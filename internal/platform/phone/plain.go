package phone

import (
	"strings"
	"unicode"
)

// Plain returns a text of digits as a keyboard writes it: the digits of any script as ASCII, every kind of space as
// a space, and no character that shows nothing. Address books, chats and spreadsheets add such marks inside of numbers,
// dates and codes.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x80:
			return r
		case unicode.Is(unicode.Zs, r):
			return ' '
		case invisible(r):
			return -1
		default:
			return ASCIIDigit(r)
		}
	}, s)
}

// invisible reports whether r shows nothing: marks of direction, joiners, variation selectors, fillers, and what Unicode
// calls ignorable.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) || r == '\u20e3' // the frame of 1️⃣
}
