package config

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Fault is one thing wrong with the settings.
type Fault struct {
	// Name is the variable, or the flag or argument where there is no such
	// variable.
	Name string
	// Value is what it is set to, less what is secret; it may be empty.
	Value string
	// Problem says what is wrong and what is accepted.
	Problem string
}

// String is the fault in one line.
func (f Fault) String() string {
	if f.Value == "" {
		return f.Name + ": " + f.Problem
	}
	return fmt.Sprintf("%s=%s: %s", f.Name, printable(f.Value), f.Problem)
}

// Faults is every fault found, the error of Load and Validate.
type Faults []Fault

// Error lists the faults, one on each line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// printable quotes what would not stay on one line, and cuts what is long.
func printable(s string) string {
	const most = 120
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// suggest is " (did you mean x?)" with the nearest of the known names, or nothing
// where none is near.
func suggest(name string, known []string) string {
	best, nearest := "", 1+max(2, len(name)/4)
	for _, k := range known {
		if d := distance(name, k); d < nearest {
			best, nearest = k, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// distance is how many letters must change to make b of a (Levenshtein's).
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
