package config

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Error describes one invalid setting.
type Error struct {
	// Name is the variable, the flag, or the argument.
	Name string
	// Value is the value of the setting without its secrets; it may be empty.
	Value string
	// Message describes the fault and the accepted values.
	Message string
}

// userInfo is the part of a URL that may hold a password, quotedUserInfo the same part of a URL which a
// message quotes; an example in a message has no quotes.
var (
	userInfo       = regexp.MustCompile(`//[^\s"]*@`)
	quotedUserInfo = regexp.MustCompile(`("[^"]*//)[^\s"]*@`)
)

// Error returns the error in one line, without the user and the password of a URL: a URL of a
// database can be in the wrong variable.
func (e Error) Error() string {
	message := quotedUserInfo.ReplaceAllString(e.Message, "${1}"+masked+"@")
	if e.Value == "" {
		return e.Name + ": " + message
	}
	return fmt.Sprintf("%s=%s: %s", e.Name, printable(userInfo.ReplaceAllString(e.Value, "//"+masked+"@")), message)
}

// Errors are all errors of the settings. Load and Validate return it.
type Errors []Error

// Error returns one line for each error.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, err := range e {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// printable quotes s if it has unprintable characters, and cuts it after 120 bytes.
func printable(s string) string {
	const limit = 120
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// suggest returns " (did you mean x?)" with the most similar of the known names, or ""
// if none is similar. A known name with the same words and some more is the most similar.
func suggest(name string, known []string) string {
	best, limit := "", 1+max(2, len(name)/4)
	for _, k := range known {
		d := distance(name, k)
		if hasWords(k, name) {
			d = 1
		}
		if d < limit {
			best, limit = k, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// hasWords reports whether all words of name are words of known.
func hasWords(known, name string) bool {
	isSeparator := func(r rune) bool { return r == '_' || r == '-' }
	words := strings.FieldsFunc(known, isSeparator)
	for _, word := range strings.FieldsFunc(name, isSeparator) {
		if !slices.Contains(words, word) {
			return false
		}
	}
	return name != ""
}

// distance is the Levenshtein distance between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
