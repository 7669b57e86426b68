package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestLongTable: a list that may lack rows says so, but not in the output for scripts.
func TestLongTable(t *testing.T) {
	for rows, want := range map[int]string{
		listLimit - 1: "",
		listLimit:     "The list ends after 200 rows. There may be more.\n",
	} {
		var stdout, stderr bytes.Buffer
		sh := &shell{Command: new(cobra.Command)}
		sh.SetOut(&stdout)
		sh.SetErr(&stderr)
		if err := printTable(sh, "ROW", make([]int, rows), func(i int) []any { return []any{i} }); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(stdout.String(), "\n"); lines != rows+1 || stderr.String() != want {
			t.Errorf("%d rows: printed %d lines and %q, want %d and %q", rows, lines, stderr.String(), rows+1, want)
		}
	}
}

// TestJSONTable: with --json a row is an object with the titles as names.
func TestJSONTable(t *testing.T) {
	var stdout bytes.Buffer
	sh := &shell{Command: new(cobra.Command), json: true}
	sh.SetOut(&stdout)
	if err := printTable(sh, "ID\tVALID UNTIL", []int{1, 2}, func(i int) []any { return []any{i, orDash("")} }); err != nil {
		t.Fatal(err)
	}
	if want := `{"id":1,"valid_until":null}` + "\n" + `{"id":2,"valid_until":null}` + "\n"; stdout.String() != want {
		t.Errorf("printed %s, want %s", stdout.String(), want)
	}
}
