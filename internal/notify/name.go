package notify

import (
	"slices"
	"strings"
	"unicode"
)

// maxNameInMessage is the length of the longest name in a message, in characters.
const maxNameInMessage = 40

// maxDigits bounds the digits of a whole name. It is below the length of a phone
// number, which could be written as several words.
const maxDigits = 6

// Name makes a name that a user typed safe for a message: it removes control and
// invisible characters and everything that a phone turns into a link, and it cuts
// long names. It returns fallback if nothing is left.
func Name(name, fallback string) string {
	var kept []string
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		word = strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs) && r != '\u200c' && r != '\u200d' {
				return -1
			}
			return r
		}, word)
		if word = unlink(word); word != "" {
			kept = append(kept, word)
		}
	}
	if digits(strings.Join(kept, "")) > maxDigits {
		kept = slices.DeleteFunc(kept, func(word string) bool { return digits(word) > 0 })
	}
	clean := []rune(strings.Join(kept, " "))
	if len(clean) > maxNameInMessage {
		clean = append(clean[:maxNameInMessage-1], '…')
	}
	if len(clean) == 0 {
		return fallback
	}
	return string(clean)
}

// unlink removes or splits a word that a phone would turn into a link: an email
// address, a URL, a domain, a phone number. Initials such as "A.P.J." are kept.
func unlink(word string) string {
	if strings.ContainsAny(word, "/\\@:<>") {
		return ""
	}
	if digits(word) > 4 {
		return ""
	}
	parts := strings.FieldsFunc(word, func(r rune) bool { return r == '.' || r == '。' || r == '．' || r == '｡' })
	if len(parts) > 1 && len([]rune(parts[len(parts)-1])) > 1 {
		return strings.Join(parts, " ")
	}
	return word
}

// digits counts the digits of any script.
func digits(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}
