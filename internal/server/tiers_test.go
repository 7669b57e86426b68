package server_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
)

// TestOpenRefusesInvalidTiers: Open returns every error in the file of TIERS and
// creates no data folder.
func TestOpenRefusesInvalidTiers(t *testing.T) {
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
		write("large.json", strings.Repeat(" ", 1<<20+1)):     {"cannot be read: the file is larger than 1 MiB"},
		write("wrong.json", `{"tiers": [{"name": "A"}, {}]}`): {"/tiers/0/name must", "/tiers/0/title must", "/tiers/1/name must", "/tiers/1/title must"},
	} {
		cfg := config.Defaults()
		cfg.DataDir, cfg.Tiers = filepath.Join(dir, "data"), path
		cfg.DatabaseURL = config.SecretURL("sqlite:" + filepath.Join(cfg.DataDir, "touchline.db"))
		app, err := server.Open(context.Background(), cfg, server.Options{})
		errs, ok := errors.AsType[config.Errors](err)
		if app != nil || !ok || len(errs) != len(want) {
			t.Fatalf("%s: err = %v, want %d config errors", path, err, len(want))
		}
		for i, e := range errs {
			if e.Name != "TOUCHLINE_TIERS" || e.Value != path || !strings.HasPrefix(e.Message, want[i]) {
				t.Errorf("%s: got %s, want %s", path, e, want[i])
			}
		}
		if _, err := os.Stat(cfg.DataDir); !os.IsNotExist(err) {
			t.Errorf("%s: the data folder exists: %v", path, err)
		}
	}
}
