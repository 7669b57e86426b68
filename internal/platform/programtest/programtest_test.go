package programtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/touchline/touchline/internal/platform/programtest"
)

// outcome is a test that records how it ends.
type outcome struct {
	testing.TB
	skipped, failed string
}

func (o *outcome) Helper()                           {}
func (o *outcome) Skip(args ...any)                  { o.skipped = fmt.Sprint(args...) }
func (o *outcome) Fatalf(format string, args ...any) { o.failed = fmt.Sprintf(format, args...) }

// TestNeed: without its program a test is skipped with one line, or fails where programs are required.
func TestNeed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for _, tt := range []struct {
		require, reason, skipped, failed string
	}{
		{"", "", "no zsh: install Debian's package zsh", ""},
		{"", "it did\nnot start\n", "no zsh: install Debian's package zsh (it did not start)", ""},
		{"on", "", "", "no zsh: install Debian's package zsh, which TOUCHLINE_TEST_REQUIRE_PROGRAMS=on requires"},
	} {
		t.Setenv("TOUCHLINE_TEST_REQUIRE_PROGRAMS", tt.require)
		var got outcome
		if tt.reason == "" {
			programtest.Zsh.Need(&got)
		} else {
			programtest.Zsh.Skip(&got, tt.reason)
		}
		if got.skipped != tt.skipped || got.failed != tt.failed {
			t.Errorf("%+v: got %q, %q", tt, got.skipped, got.failed)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "zsh"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var got outcome
	if path := programtest.Zsh.Need(&got); filepath.Dir(path) != dir || got != (outcome{}) {
		t.Errorf("with zsh in PATH: got %q, %+v", path, got)
	}
}
