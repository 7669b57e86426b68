package team

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// FoldName returns the same string for names that people consider equal, such as Zoë and zoe, O’Brien and O'Brien. It
// is used for duplicates. It ignores case, spaces, invisible characters, character width and Latin
// accents, also those that are part of a letter, such as in ł and ø, and takes every apostrophe and hyphen for the
// plain one. It keeps the vowel signs of other scripts, which are letters there.
func FoldName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r), 0x300 <= r && r <= 0x36f:
			return -1
		case strings.ContainsRune(apostrophes, r):
			return '\''
		case unicode.Is(unicode.Pd, r), r == '\u2212':
			return '-'
		}
		return r
	}, norm.NFKD.String(spacing.Replace(s)))
	s = strings.Join(strings.Fields(norm.NFKC.String(cases.Fold().String(s))), " ")
	return strokes.Replace(s)
}

// SearchText returns what a search for a name looks for in its SearchKey: as FoldName, with a space for punctuation, so that "jean luc" and
// "Jean-Luc" are the same. A text of punctuation alone keeps it.
func SearchText(s string) string {
	folded := FoldName(s)
	return cmp.Or(words(folded), folded)
}

// SearchKey returns the text of a name that contains the SearchText of all its parts, also without hyphens, apostrophes and the full stops of
// initials: "O'Brien" is found by "o brien" and "obrien", "A. K. Singh" by "a k singh" and "ak singh".
func SearchKey(name string) string {
	folded := FoldName(name)
	forms := []string{folded}
	for _, form := range []string{words(folded), joinInitials(words(strings.NewReplacer("'", "", "-", "").Replace(folded)))} {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return strings.Join(forms, "\n")
}

// words returns a folded name with single spaces in place of punctuation.
func words(folded string) string {
	return strings.Join(strings.FieldsFunc(folded, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }), " ")
}

// joinInitials returns words with those of one letter that follow each other as one: "a k singh" as "ak singh".
func joinInitials(words string) string {
	var joined strings.Builder
	afterInitial := false
	for i, word := range strings.Fields(words) {
		initial := utf8.RuneCountInString(word) == 1
		if i > 0 && !(initial && afterInitial) {
			joined.WriteByte(' ')
		}
		joined.WriteString(word)
		afterInitial = initial
	}
	return joined.String()
}

// apostrophes are the characters that people and keyboards write for an apostrophe.
const apostrophes = "‘’‛ʹʻʼʽˈ`´′ꞌ＇"

// spacing replaces marks that Unicode decomposes into a space: "O´Brien".
var spacing = strings.NewReplacer("´", "'", "ʹ", "'")

// strokes replaces letters with strokes and double letters, which Unicode does not decompose.
var strokes = strings.NewReplacer("ł", "l", "ø", "o", "đ", "d", "ð", "d", "ħ", "h", "ı", "i", "ŧ", "t", "æ", "ae", "œ", "oe", "þ", "th")
