package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
)

// TestOwnSecret: an endpoint keeps its secret from one run of the commands to the next.
func TestOwnSecret(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", folder)
	t.Setenv("HOME", folder)    // macOS
	t.Setenv("AppData", folder) // Windows
	endpoint := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer endpoint.Close()
	trigger := func() (code int, secret, printed string) {
		var out, errs bytes.Buffer
		code = run(t.Context(), []string{"webhook", "trigger", "player.approved", "--forward-to", endpoint.URL}, nil, &out, &errs)
		return code, regexp.MustCompile(`whsec_\S+`).FindString(errs.String()), errs.String()
	}
	code, first, printed := trigger()
	if code != 0 || first == "" {
		t.Fatalf("exit status %d, printed %s", code, printed)
	}
	if _, again, printed := trigger(); again != first {
		t.Errorf("the second run printed %s, want %s", printed, first)
	}
	settings, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(settings, "*", "webhook-secret"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the files of the secret: %q, %v", found, err)
	}
	if info, err := os.Stat(found[0]); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if err := os.WriteFile(found[0], []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, printed := trigger(); code != 2 {
		t.Errorf("with a damaged file: exit status %d, printed %s", code, printed)
	}
}
