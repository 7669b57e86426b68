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

// Text returns s as it is kept, and notes what is wrong with it.
func (is Rules) Text(s, at string, f *Faults) string {
	if !is.secret {
		s = tidy(s, is.lines)
	}
	var noUUID bool
	if is.identity {
		// Any UUID may be asked for; one that is not ours names nothing here.
		id, err := uuid.Parse(s)
		if noUUID = err != nil || len(s) != len(id.String()); !noUUID {
			s = id.String()
		}
	}
	length := utf8.RuneCountInString(s)
	switch {
	case !is.secret && strings.ContainsFunc(s, is.forbidden):
		f.Add(at, "invalid_characters", "This has control characters or marks that do not belong here.")
	case noUUID:
		f.Add(at, "invalid_id", "This is no identifier: a UUID.")
	case len(is.oneof) > 0 && !slices.Contains(is.oneof, s):
		f.Add(at, "invalid_value", "This must be one of "+strings.Join(is.oneof, ", ")+".")
	case is.hasMin && length < is.min:
		detail := "This cannot be empty."
		if is.min > 1 {
			detail = "This must have at least " + strconv.Itoa(is.min) + " characters."
		}
		f.Add(at, "too_short", detail)
	case is.hasMax && length > is.max:
		f.Add(at, "too_long", "This may have at most "+strconv.Itoa(is.max)+" characters.")
	case is.name && length > 0 && !strings.ContainsFunc(s, visible):
		f.Add(at, "invalid_characters", "This has no letter that can be seen.")
	}
	return s
}

// tidy trims s and normalises it, so that what looks the same is the same.
func tidy(s string, lines bool) string {
	if lines {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return strings.TrimSpace(norm.NFC.String(s))
}

// forbidden says whether r may not stand in a string of these rules.
func (is Rules) forbidden(r rune) bool {
	switch {
	case is.lines && (r == '\n' || r == '\t'):
		return false
	case unicode.IsControl(r):
		return true
	case r == '\u2028', r == '\u2029': // separators of lines and paragraphs
		return !is.lines
	case '\u202a' <= r && r <= '\u202e', '\u2066' <= r && r <= '\u2069':
		// Overrides and isolates would turn round what stands after the name.
		return is.name
	}
	return false
}

// visible says whether r shows: letters and numbers do, but for those that only
// fill a place, such as U+3164, which Unicode counts as letters of Hangul.
func visible(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}
