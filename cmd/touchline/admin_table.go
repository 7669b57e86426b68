package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/touchline/touchline/internal/coach"
)

func newTabWriter(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// printTable prints the titles of columns, separated by tabs, and a row for each item, or with --json
// an object for each item. It says if listLimit may have left out rows.
func printTable[T any](sh *shell, titles string, items []T, row func(T) []any) error {
	if sh.json {
		names := strings.Split(strings.ReplaceAll(strings.ToLower(titles), " ", "_"), "\t")
		return printLines(sh, items, func(item T) any {
			object := map[string]any{}
			for i, value := range row(item) {
				if object[names[i]] = value; value == "-" {
					object[names[i]] = nil
				}
			}
			return object
		})
	}
	tw := newTabWriter(sh.OutOrStdout())
	fmt.Fprintln(tw, titles)
	for _, item := range items {
		var cells []string
		for _, value := range row(item) {
			cells = append(cells, oneLine(fmt.Sprint(value)))
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	if len(items) == listLimit {
		sh.PrintErrf("The list ends after %d rows. There may be more.\n", listLimit)
	}
	return tw.Flush()
}

// printLines prints an object for each item, each on a line.
func printLines[T any](sh *shell, items []T, object func(T) any) error {
	for _, item := range items {
		if err := printJSON(sh.OutOrStdout(), object(item)); err != nil {
			return err
		}
	}
	return nil
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

func findCoach(ctx context.Context, sh *shell, args []string) error {
	search := coach.AccountSearch{Name: args[0]}
	if n, err := sh.Phones.Parse(args[0]); err == nil {
		search = coach.AccountSearch{Number: n}
	}
	found, err := sh.Accounts.Find(ctx, sh.by, search, listLimit)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("no coach has this number or a name that starts with this text")
	}
	return printTable(sh, "ID\tNUMBER\tNAME\tTIER\tKYC\tSTATE", found, func(f coach.AccountMatch) []any {
		return []any{f.ID, f.Number, orDash(f.Name), sh.Subscriptions.Tiers.Of(f.Tier).Name, sh.Subscriptions.Tiers.KYCState(f.KYC), f.State()}
	})
}
