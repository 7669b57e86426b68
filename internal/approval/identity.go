package approval

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/touchline/touchline/internal/platform/fault"
)

// FoldName returns the same string for names that people consider equal: it ignores case,
// the encoding of accents, repeated spaces and invisible format characters.
func FoldName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	folded := cases.Fold().String(norm.NFC.String(name))
	return norm.NFC.String(strings.Join(strings.Fields(folded), " "))
}

// StudentIdentity identifies a child across the player records of a coach. A coach has at
// most one live player with an identity.
type StudentIdentity struct {
	NameKey     string // see FoldName
	DateOfBirth Date
}

// Identity returns the identity of the student.
func (p *Player) Identity() StudentIdentity {
	return StudentIdentity{FoldName(p.Student.FullName), p.Student.DateOfBirth}
}

// SearchKey returns the text that a search for players matches.
func (p *Player) SearchKey() string {
	return FoldName(p.Student.FullName) + "\n" + FoldName(p.GuardianName())
}

// ErrPlayerExists says that the coach has a live player with the same identity.
func ErrPlayerExists(id string) error {
	return fault.New(fault.Conflict, "player_exists", "You have a player of this name and birth date already.").With("player_id", id)
}
