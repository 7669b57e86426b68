package coach

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// maxTerm is how many characters of a word the index of the directory knows. What
// a longer word is looked for by beyond them is compared when it is found.
const maxTermLength = 20

// foldSearch makes what people would call the same the same, as the search for
// players does: whatever the case, the spaces, and characters that do not show.
// The directory also looks past the width of characters and accents. The marks of
// scripts that write vowels with them are letters to those who read them, and stay.
func foldSearch(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || 0x300 <= r && r <= 0x36f {
			return -1
		}
		return r
	}, norm.NFKD.String(s))
	return strings.Join(strings.Fields(norm.NFKC.String(cases.Fold().String(s))), " ")
}

// foldCase is foldSearch for those to whom accents matter.
func foldCase(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(norm.NFC.String(cases.Fold().String(s))), " ")
}

// words returns the words of a text, folded: letters, digits and their marks.
func splitWords(s string) []string {
	return strings.FieldsFunc(foldSearch(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// cut returns the first characters of a word, as many as the index knows.
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

// beginnings calls found with each beginning of a word that the index knows,
// itself among them.
func eachPrefix(word string, found func(string)) {
	word = indexedPrefix(word)
	for i := range word {
		if i > 0 {
			found(word[:i])
		}
	}
	found(word)
}

// The two kinds of terms by which a listing is found.
func sportTerm(folded string) string { return "s:" + folded }
func wordTerm(word string) string    { return "w:" + indexedPrefix(word) }

// isLong says that the index may not tell a word from others that begin like it.
func exceedsIndex(word string) bool { return utf8.RuneCountInString(word) >= maxTermLength }
