package message

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// LongCharacter is a character that the alphabet of SMS does not have. One of them leaves room for 70 characters instead
// of 160.
type LongCharacter struct {
	Character string
	// Replacement is what may stand in its place; Replaceable is false if nothing may.
	Replacement string
	Replaceable bool
}

// Shown returns the character for people, or its number in Unicode if it shows nothing.
func (c LongCharacter) Shown() string {
	r := []rune(c.Character)[0]
	if !unicode.IsGraphic(r) || unicode.IsSpace(r) || unicode.Is(unicode.Variation_Selector, r) {
		return fmt.Sprintf("U+%04X", r)
	}
	return c.Character
}

// LongCharacters returns the characters of a text that the alphabet of SMS does not have, each once; the text with
// replacements for those that have one; and the text with neither, to learn what they take.
func LongCharacters(text string) (found []LongCharacter, replaced, without string) {
	var with, bare strings.Builder
	for _, r := range text {
		if isGSM(r) {
			with.WriteRune(r)
			bare.WriteRune(r)
			continue
		}
		plain, ok := plainFor(r)
		if c := (LongCharacter{string(r), plain, ok}); !slices.Contains(found, c) {
			found = append(found, c)
		}
		bare.WriteString(plain)
		if !ok {
			plain = string(r)
		}
		with.WriteString(plain)
	}
	return found, with.String(), bare.String()
}

// plainCharacters are what keyboards and editors write for a plain character.
var plainCharacters = map[rune]string{
	'‘': "'", '’': "'", '‚': "'", '‛': "'", '′': "'", 'ʹ': "'", 'ʼ': "'", '´': "'", '`': "'",
	'“': `"`, '”': `"`, '„': `"`, '‟': `"`, '″': `"`, '«': `"`, '»': `"`, '‹': "'", '›': "'",
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '―': "-", '−': "-", '…': "...", '•': "-", '·': "-", '⁄': "/", '∕': "/", '×': "x", '₹': "Rs ",
	'\u2028': "\n", '\u2029': "\n", '\t': " ", '✓': "OK", '→': "->",
}

// plainFor returns what may stand in place of a character, all of it in the alphabet of SMS. A letter may stand without
// its accent.
func plainFor(r rune) (string, bool) {
	if plain, ok := plainCharacters[r]; ok {
		return plain, true
	}
	if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
		return "", r != '\u200d' && r != '\u200c' // these join letters of other scripts, and emoji
	}
	var plain strings.Builder
	for _, part := range norm.NFKD.String(string(r)) {
		switch other, ok := plainCharacters[part]; {
		case 0x300 <= part && part <= 0x36f:
		case ok:
			plain.WriteString(other)
		case isGSM(part):
			plain.WriteRune(part)
		default:
			return "", false
		}
	}
	return plain.String(), plain.Len() > 0
}
