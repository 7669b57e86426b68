package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/server"
)

// TestAuditLimit: the command reads at most as many entries as a call of the API.
func TestAuditLimit(t *testing.T) {
	environ := []string{"TOUCHLINE_DATA_DIR=" + t.TempDir()}
	cfg, code := load(nil, environ, t.Output(), t.Output())
	if code != 0 {
		t.Fatal("the settings are refused")
	}
	sh, err := server.OpenOperators(t.Context(), cfg, server.Options{}, false)
	if err != nil {
		t.Fatal(err)
	}
	for range 210 {
		if _, err := sh.Tokens.Audit(t.Context(), actor.Operator{Name: "shell:test"}, "", "", 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := sh.Close(); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[string]int{"-1": 1, "3": 3, "200": 200, "1000000": 200} {
		var out bytes.Buffer
		if code := runAdmin(t.Context(), []string{"audit", "--limit=" + limit}, environ, &out, t.Output()); code != 0 {
			t.Fatalf("exit status %d", code)
		}
		if n := strings.Count(out.String(), "\n") - 1; n != want { // the first line is the head
			t.Errorf("--limit=%s: %d entries, want %d", limit, n, want)
		}
	}
}
