package wire

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"
)

// Text returns s trimmed and normalised, and adds a fault if it breaks a rule.
func (r Rules) Text(s, at string, f *Faults) string {
	if !r.secret {
		s = r.normalise(s)
	}
	var invalidID bool
	if r.id {
		// uuid.Parse also reads other notations, such as urn:uuid:…; refuse them.
		id, err := uuid.Parse(s)
		invalidID = err != nil || len(s) != len(id.String())
		if !invalidID {
			s = id.String()
		}
	}
	length := utf8.RuneCountInString(s)
	switch {
	case !r.secret && strings.ContainsFunc(s, r.forbidden):
		f.Add(at, "invalid_characters", "This has characters that are not allowed here, such as control characters.")
	case invalidID:
		f.Add(at, "invalid_id", "This must be a UUID.")
	case len(r.oneof) > 0 && !slices.Contains(r.oneof, s):
		f.Add(at, "invalid_value", "This must be one of "+strings.Join(r.oneof, ", ")+".")
	case r.hasMin && length < r.min:
		detail := "This cannot be empty."
		if r.min > 1 {
			detail = "This must have at least " + strconv.Itoa(r.min) + " characters."
		}
		f.Add(at, "too_short", detail)
	case r.hasMax && length > r.max:
		f.Add(at, "too_long", "This may have at most "+strconv.Itoa(r.max)+" characters.")
	case r.name && length > 0 && !strings.ContainsFunc(s, visible):
		f.Add(at, "invalid_characters", "This must contain a letter, a number or an emoji.")
	}
	return s
}

// normalise trims s and converts it to NFC, so that equal texts compare equal. In a text of one line a tab, which copying from a
// spreadsheet adds, is a space, and the characters that show nothing go (see Visible). A text of several lines keeps them, unless it has no others.
func (r Rules) normalise(s string) string {
	switch {
	case !strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsSpace(c) && !invisible(c) }):
		return ""
	case !r.lines:
		s = Visible(strings.ReplaceAll(s, "\t", " "), r.name)
	case r.name:
		s = strings.Map(withoutDirection, s)
	}
	if r.lines {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return strings.TrimSpace(norm.NFC.String(s))
}

// withoutDirection drops the marks that change the writing direction of the text after them, except override.
func withoutDirection(c rune) rune {
	if '\u202a' <= c && c < override || '\u2066' <= c && c <= '\u2069' {
		return -1
	}
	return c
}

// forbidden reports whether the rules exclude c.
func (r Rules) forbidden(c rune) bool {
	switch {
	case r.lines && (c == '\n' || c == '\t'):
		return false
	case unicode.IsControl(c):
		return true
	case c == '\u2028', c == '\u2029': // line and paragraph separators
		return !r.lines
	case c == override: // would reverse the text after a name
		return r.name
	}
	return false
}

// visible reports whether c is a letter, a number or a symbol, such as an emoji, that has a
// glyph. Fillers such as U+3164 are letters in Unicode, and the blank Braille pattern is a
// symbol, but they show nothing.
func visible(c rune) bool {
	return unicode.In(c, unicode.L, unicode.N, unicode.So) && c != '\u2800' && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c)
}
