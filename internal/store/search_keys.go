package store

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/touchline/touchline/internal/approval"
)

// fold returns the same bytes for names that people consider equal: it ignores case, the
// encoding of accents, repeated spaces and invisible format characters.
func fold(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	folded := cases.Fold().String(norm.NFC.String(name))
	return norm.NFC.String(strings.Join(strings.Fields(folded), " "))
}

// studentKey is unique among the live players of a coach with one birth date.
func studentKey(p *approval.Player) string { return fold(p.Student.FullName) }

// student identifies a child across player records, for disputes.
type student struct {
	key  string
	born approval.Date
}

func studentOf(p *approval.Player) student { return student{studentKey(p), p.Student.DateOfBirth} }

// searchKey is the text that a search for players matches.
func searchKey(p *approval.Player) string {
	return studentKey(p) + "\n" + fold(p.GuardianName())
}
