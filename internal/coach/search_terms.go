package coach

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/touchline/touchline/internal/team"
)

// maxTermLength is the number of characters of a word in the index. Directory
// compares longer words with the listing itself.
const maxTermLength = 20

// foldCase is team.FoldName for comparisons in which accents matter.
func foldCase(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(norm.NFC.String(cases.Fold().String(s))), " ")
}

// splitWords returns the folded words of a text: letters, digits and their marks.
func splitWords(s string) []string {
	return strings.FieldsFunc(team.FoldName(s), func(r rune) bool {
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
