package store

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/touchline/touchline/internal/approval"
)

// fold makes names that people would call the same the same bytes: whatever the
// case, the way accents are written, and the spaces.
func fold(name string) string {
	folded := cases.Fold().String(norm.NFC.String(name))
	return norm.NFC.String(strings.Join(strings.Fields(folded), " "))
}

// studentKey is what a coach may have once for each birth date.
func studentKey(p *approval.Player) string { return fold(p.Student.FullName) }

// searchKey is what a search looks through.
func searchKey(p *approval.Player) string {
	return studentKey(p) + "\n" + fold(p.GuardianName())
}
