package server_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/server"
)

// TestWrongTiers: a wrong file stops the start as a wrong setting does, with every
// fault named and nothing left behind.
func TestWrongTiers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string][]string{
		filepath.Join(dir, "absent.json"): {"cannot be read: no such file"},
		dir:                               {"cannot be read: is a directory"},
		write("empty.json", ""):           {"is not JSON"},
		write("large.json", strings.Repeat(" ", 1<<20+1)):     {"cannot be read: it has more than a megabyte"},
		write("wrong.json", `{"tiers": [{"name": "A"}, {}]}`): {"/tiers/0/name must", "/tiers/0/title must", "/tiers/1/name must", "/tiers/1/title must"},
	} {
		cfg := config.Defaults()
		cfg.DataDir, cfg.Tiers = filepath.Join(dir, "data"), path
		cfg.DatabaseURL = config.SecretURL("sqlite:" + filepath.Join(cfg.DataDir, "touchline.db"))
		app, err := server.Open(context.Background(), cfg, server.Edges{})
		faults, ok := errors.AsType[config.Faults](err)
		if app != nil || !ok || len(faults) != len(want) {
			t.Fatalf("%s: %v", path, err)
		}
		for i, fault := range faults {
			if fault.Name != "TOUCHLINE_TIERS" || fault.Value != path || !strings.HasPrefix(fault.Problem, want[i]) {
				t.Errorf("%s: %s, want %s", path, fault, want[i])
			}
		}
		if _, err := os.Stat(cfg.DataDir); !os.IsNotExist(err) {
			t.Errorf("%s: a data folder was left behind: %v", path, err)
		}
	}
}
