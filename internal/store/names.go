package store

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/touchline/touchline/internal/approval"
)

// fold makes names that people would call the same the same bytes: whatever the
// case, the way accents are written, the spaces, and characters that only tell
// how to set the others and do not show.
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

// studentKey is what a coach may have once for each birth date.
func studentKey(p *approval.Player) string { return fold(p.Student.FullName) }

// student is a child as disputes know it, whatever the record.
type student struct {
	key  string
	born approval.Date
}

func studentOf(p *approval.Player) student { return student{studentKey(p), p.Student.DateOfBirth} }

// searchKey is what a search looks through.
func searchKey(p *approval.Player) string {
	return studentKey(p) + "\n" + fold(p.GuardianName())
}
