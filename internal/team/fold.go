package team

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// FoldName returns the same string for names that people consider equal, such as Zoë and zoe, O’Brien and O'Brien. It
// is used for duplicates and for the search. It ignores case, spaces, invisible characters, character width and Latin
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

// apostrophes are the characters that people and keyboards write for an apostrophe.
const apostrophes = "‘’‛ʹʻʼʽˈ`´′ꞌ＇"

// spacing replaces marks that Unicode decomposes into a space: "O´Brien".
var spacing = strings.NewReplacer("´", "'", "ʹ", "'")

// strokes replaces letters with strokes and double letters, which Unicode does not decompose.
var strokes = strings.NewReplacer("ł", "l", "ø", "o", "đ", "d", "ð", "d", "ħ", "h", "ı", "i", "ŧ", "t", "æ", "ae", "œ", "oe", "þ", "th")
