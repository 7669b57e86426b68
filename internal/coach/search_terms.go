package coach

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxTermLength is the number of characters of a word in the index. Directory
// compares longer words with the listing itself.
const maxTermLength = 20

// foldSearch maps texts that people consider equal to the same string: it ignores
// case, spaces, invisible characters, character width and Latin accents, also those that are part of a
// letter, such as in ł and ø, and takes every apostrophe and hyphen for the plain one. It keeps
// the vowel signs of other scripts, which are letters there.
func foldSearch(s string) string {
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

// foldCase is foldSearch for comparisons in which accents matter.
func foldCase(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(norm.NFC.String(cases.Fold().String(s))), " ")
}

// FoldName returns the same string for names that people consider equal: Zoë and zoe, O’Brien and O'Brien. It is used for
// duplicates and for the search.
func FoldName(name string) string { return foldSearch(name) }

// splitWords returns the folded words of a text: letters, digits and their marks.
func splitWords(s string) []string {
	return strings.FieldsFunc(foldSearch(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// indexedPrefix returns the part of a word that the index contains.
func indexedPrefix(word string) string {
	n := 0
	for i := range word {
		if n == maxTermLength {
			return word[:i]
		}
		n++
	}
	return word
}

// eachPrefix calls fn with every indexed prefix of a word, the word included.
func eachPrefix(word string, fn func(prefix string)) {
	word = indexedPrefix(word)
	for i := range word {
		if i > 0 {
			fn(word[:i])
		}
	}
	fn(word)
}

// The two kinds of index terms.
func sportTerm(folded string) string { return "s:" + folded }
func wordTerm(word string) string    { return "w:" + indexedPrefix(word) }

// exceedsIndex reports whether the index may confuse a word with others of the same prefix.
func exceedsIndex(word string) bool { return utf8.RuneCountInString(word) >= maxTermLength }
