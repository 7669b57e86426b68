package input

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/touchline/touchline/internal/platform/phone"
)

// Code returns a code as it was sent, from what a person types or pastes: without spaces, dashes, points, quotation marks
// and characters that show nothing, and with the digits of any script as ASCII. Other characters stay. Of a text with other words, such as the
// whole message, it is the only number.
func Code(typed string) string {
	plain := phone.Plain(norm.NFKC.String(typed))
	if numbers := slices.Compact(numberBesideWords.FindAllString(plain, -1)); len(numbers) == 1 && strings.ContainsFunc(plain, unicode.IsLetter) {
		return numbers[0]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) || r == '\u2212' {
			return -1
		}
		return r
	}, plain)
}

// numberBesideWords is a number as long as a code.
var numberBesideWords = regexp.MustCompile(`\b[0-9]{4,10}\b`)
