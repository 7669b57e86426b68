package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

func newTabWriter(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// printTable prints the titles of columns, separated by tabs, and a row for each item. It
// says if listLimit may have left out rows.
func printTable[T any](sh *shell, titles string, items []T, row func(T) []any) error {
	tw := newTabWriter(sh.stdout)
	fmt.Fprintln(tw, titles)
	for _, item := range items {
		var cells []string
		for _, value := range row(item) {
			cells = append(cells, oneLine(fmt.Sprint(value)))
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	if len(items) == listLimit {
		fmt.Fprintf(sh.stderr, "The list ends after %d rows. There may be more.\n", listLimit)
	}
	return tw.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// oneLine replaces control characters with spaces and removes bidirectional control
// characters, which can change what a terminal shows.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
}
