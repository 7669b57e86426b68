package identity

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/lookalike"
)

// NameFit says whether the name that a provider knows is the name that the coach entered.
type NameFit string

// The values of NameFit.
const (
	SameName NameFit = "same"
	// SimilarName: one name has the words of the other, in any order or script.
	SimilarName NameFit = "similar"
	OtherName   NameFit = "other"
	// UnknownName: the provider does not say the name.
	UnknownName NameFit = "unknown"
)

// titles are words before names.
var titles = []string{"mr", "mrs", "ms", "miss", "dr", "shri", "sri", "smt", "kumari", "श्री", "श्रीमती", "सुश्री", "डॉ"}

// fitName compares the name that the coach entered with the name that a provider knows.
func fitName(entered, known string) NameFit {
	a, b := nameWords(entered), nameWords(known)
	switch {
	case len(b) == 0:
		return UnknownName
	case len(a) == 0:
		return OtherName
	}
	slices.Sort(a)
	slices.Sort(b)
	if slices.Equal(a, b) {
		return SameName
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	rest := make([]string, len(b))
	for i, word := range b {
		rest[i] = consonants(word)
	}
	written := false
	for _, word := range a {
		shape := consonants(word)
		i := slices.IndexFunc(rest, func(other string) bool {
			return other == shape || len(shape) == 1 && strings.HasPrefix(other, shape) || len(other) == 1 && strings.HasPrefix(shape, other)
		})
		if i < 0 {
			return OtherName
		}
		written = written || len(shape) > 1 && len(rest[i]) > 1 || utf8.RuneCountInString(word) > 1 && rest[i] == shape
		rest = slices.Delete(rest, i, i+1)
	}
	if !written {
		return OtherName
	}
	return SimilarName
}

// nameWords returns the folded words of a name without titles.
func nameWords(name string) []string {
	words := strings.FieldsFunc(lookalike.Fold(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	return slices.DeleteFunc(words, func(word string) bool { return slices.Contains(titles, word) })
}

// indicBlocks are the first characters of the blocks of Unicode whose letters have the order of Devanagari.
var indicBlocks = []rune{0x0900, 0x0980, 0x0A00, 0x0A80, 0x0B00, 0x0B80, 0x0C00, 0x0C80, 0x0D00}

// indicConsonants are the sounds of the consonants from क (U+0915) to ह (U+0939).
var indicConsonants = []rune("kkggnccjjnttddnttddnnppbbmyrrlllvsssh")

// latinSounds join the letters of one sound; longer ones come first.
var latinSounds = strings.NewReplacer(
	"chh", "c", "ch", "c", "ksh", "ks", "kh", "k", "gh", "g", "jh", "j", "th", "t", "dh", "d", "ph", "p", "bh", "b", "sh", "s",
	"ck", "k", "q", "k", "f", "p", "w", "v", "z", "j", "x", "ks",
)

// consonants returns the sounds of the consonants of a word, which are nearly the same in each script: शर्मा and Sharma are srm.
// A word of vowels alone is itself.
func consonants(word string) string {
	var b strings.Builder
	last := rune(-1) // the consonant before, unless a vowel follows it
	add := func(r rune) {
		if r != last {
			b.WriteRune(r)
		}
		last = r
	}
	joined := false
	for _, r := range latinSounds.Replace(word) {
		switch at := indicOffset(r); {
		case at >= 0x15 && int(at)-0x15 < len(indicConsonants):
			if !joined { // after a consonant without a sign stands a vowel
				last = -1
			}
			add(indicConsonants[at-0x15])
		case at == 0x02: // anusvara
			add('n')
		case at < 0 && !strings.ContainsRune("aeiou", r):
			add(r)
		case at != virama:
			last = -1
		}
		joined = indicOffset(r) == virama
	}
	switch sounds := b.String(); sounds {
	case "":
		return word
	case "snh": // सिंह is written Singh
		return "sng"
	default:
		return sounds
	}
}

// virama is the place of the sign that joins two consonants.
const virama = 0x4D

// indicOffset returns the place of a letter in its block, or -1.
func indicOffset(r rune) rune {
	for _, block := range indicBlocks {
		if r >= block && r < block+0x80 {
			return r - block
		}
	}
	return -1
}
