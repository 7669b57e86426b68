package approval

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// Basis is why a coach may keep the data of a player. The coach declares it when the player is added,
// at CreatedAt, and it does not change.
type Basis struct {
	Kind BasisKind
	// Note says what OtherBasis is.
	Note string
}

// BasisKind is the kind of a Basis.
type BasisKind string

// The kinds.
const (
	// FamilyAsked: the family asked the coach.
	FamilyAsked BasisKind = "family_asked"
	// Membership: the student is a member of the coach's club.
	Membership BasisKind = "membership"
	// OtherBasis: the note says it.
	OtherBasis BasisKind = "other"
)

// BasisKinds are all kinds.
var BasisKinds = []BasisKind{FamilyAsked, Membership, OtherBasis}

// DefaultBasis returns the basis of a player if the coach declares none.
func (r Rules) DefaultBasis() BasisKind { return cmp.Or(r.Basis, FamilyAsked) }

// MaxBasisNote limits the note in characters.
const MaxBasisNote = 200

// BasisOf returns the basis that the text of a cell names, and whether its note is short enough: a kind, which
// a colon and a note can follow, or the note of another basis. An empty cell names none.
func BasisOf(text string) (Basis, bool) {
	b := Basis{OtherBasis, text}
	for _, kind := range BasisKinds[:2] {
		if note, found := strings.CutPrefix(text+": ", string(kind)+": "); found {
			b = Basis{kind, strings.TrimSuffix(note, ": ")}
		}
	}
	if text == "" {
		b = Basis{}
	}
	return b, utf8.RuneCountInString(b.Note) <= MaxBasisNote
}

// String returns the text for BasisOf.
func (b Basis) String() string {
	switch {
	case b.Kind == OtherBasis:
		return b.Note
	case b.Note != "":
		return string(b.Kind) + ": " + b.Note
	}
	return string(b.Kind)
}
