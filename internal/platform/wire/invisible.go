package wire

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Visible returns s in NFC without the characters that show nothing: zero-width spaces, byte order marks, soft hyphens, fillers, and marks
// that change the writing direction. Keyboards and copied texts add them, and the person does not see them. These stay where they
// change what is shown:
//
//	U+200C, U+200D   between letters of Indian scripts, Arabic and others that join letters, after a virama, and in emoji
//	U+FE00–U+FE0F    and other variation selectors after a symbol, a keycap, and letters that have variants
//	U+E0020–U+E007F  in the flags of England, Scotland and Wales
//	U+202E           with names, whose letters it reverses: without it, the name differs from what the person saw
func Visible(s string, name bool) string {
	if isASCII(s) {
		return s
	}
	for {
		s = norm.NFC.String(s)
		shown := withoutInvisible(s, name)
		if shown == s {
			return s
		}
		s = shown // NFC may compose and order what now stands together
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func withoutInvisible(s string, name bool) string {
	if !strings.ContainsFunc(s, invisible) {
		return s
	}
	in := []rune(s)
	out := make([]rune, 0, len(in))
	for i, r := range in {
		if !invisible(r) || name && r == override {
			out = append(out, r)
			continue
		}
		before, after := rune(0), rune(0) // what is shown on both sides
		if len(out) > 0 {
			before = out[len(out)-1]
		}
		if next := slices.IndexFunc(in[i+1:], func(r rune) bool { return !invisible(r) }); next >= 0 {
			after = in[i+1+next]
		}
		if changesGlyph(r, before, after) {
			out = append(out, r)
		}
	}
	return string(out)
}

// override shows the letters after it from right to left.
const override = '\u202e'

// invisible reports whether Unicode has no glyph for r: its Default_Ignorable_Code_Point, and the marks of annotations.
func invisible(r rune) bool {
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// joiningScripts have letters whose form a joiner changes.
var joiningScripts = []*unicode.RangeTable{
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada,
	unicode.Malayalam, unicode.Sinhala, unicode.Meetei_Mayek, unicode.Tibetan, unicode.Myanmar, unicode.Khmer, unicode.Arabic, unicode.Syriac, unicode.Mongolian,
}

// variantScripts have letters with variants that a selector chooses.
var variantScripts = []*unicode.RangeTable{unicode.Han, unicode.Mongolian, unicode.Myanmar, unicode.Phags_Pa}

// changesGlyph reports whether an invisible character changes what is shown between two others.
func changesGlyph(r, before, after rune) bool {
	const nonJoiner, joiner, keycap, blackFlag = '\u200c', '\u200d', '\u20e3', '\U0001f3f4'
	isTag := func(r rune) bool { return 0xe0020 <= r && r <= 0xe007f }
	switch {
	case r == joiner || r == nonJoiner:
		letters := inWord(before) && inWord(after)
		emoji := r == joiner && (unicode.IsSymbol(before) || unicode.Is(unicode.Variation_Selector, before)) && unicode.IsSymbol(after)
		return letters || emoji || isVirama(before)
	case unicode.Is(unicode.Variation_Selector, r):
		return unicode.IsSymbol(before) || after == keycap || strings.ContainsRune("‼⁉〰ℹ", before) || unicode.In(before, variantScripts...)
	case isTag(r):
		return before == blackFlag || isTag(before)
	}
	return false
}

// inWord reports whether r is a letter or mark of a script that joins letters. Several scripts share marks.
func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && unicode.In(r, joiningScripts...) || unicode.IsMark(r) && unicode.Is(unicode.Inherited, r) && !invisible(r)
}

// isVirama reports whether r is the sign of a consonant without a vowel, after which a joiner has a meaning also at the end of a word.
func isVirama(r rune) bool {
	const class = 9
	return norm.NFC.PropertiesString(string(r)).CCC() == class
}
