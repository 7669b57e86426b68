package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestLongTable: a list that may lack rows says so, but not in the output for scripts.
func TestLongTable(t *testing.T) {
	for rows, want := range map[int]string{
		listLimit - 1: "",
		listLimit:     "The list ends after 200 rows. There may be more.\n",
	} {
		var stdout, stderr bytes.Buffer
		sh := &shell{stdout: &stdout, stderr: &stderr}
		if err := printTable(sh, "ROW", make([]int, rows), func(i int) []any { return []any{i} }); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(stdout.String(), "\n"); lines != rows+1 || stderr.String() != want {
			t.Errorf("%d rows: printed %d lines and %q, want %d and %q", rows, lines, stderr.String(), rows+1, want)
		}
	}
}
