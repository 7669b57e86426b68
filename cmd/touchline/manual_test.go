package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
)

// TestManual checks that each command has a page and that one page has all settings.
func TestManual(t *testing.T) {
	folder := t.TempDir()
	var errs bytes.Buffer
	if code := run(t.Context(), []string{"manual", folder, "--date", "2026-11-26"}, nil, &errs, &errs); code != 0 {
		t.Fatalf("exit status %d: %s", code, &errs)
	}
	for _, c := range newRoot(nil).Commands() {
		_, err := os.Stat(filepath.Join(folder, "touchline-"+c.Name()+".1"))
		if wanted := c.IsAvailableCommand(); wanted != (err == nil) {
			t.Errorf("page of %s: %v, want one: %t", c.Name(), err, wanted)
		}
	}
	page, err := os.ReadFile(filepath.Join(folder, "touchline-config.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range config.Settings() {
		if !strings.Contains(string(page), s.Name) {
			t.Errorf("the page of touchline config lacks %s", s.Name)
		}
	}
}
