package input

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/touchline/touchline/internal/platform/phone"
)

// Code returns a code as it was sent, from what a person types or pastes: without spaces, dashes, points, quotation marks
// and characters that show nothing, and with the digits of any script as ASCII. Other characters stay.
func Code(typed string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) || r == '\u2212' {
			return -1
		}
		return r
	}, phone.Plain(norm.NFKC.String(typed)))
}
