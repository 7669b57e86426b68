package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestDoctor: an installation that works has status 0, one with a gateway that is down 3. A fresh machine has no failed check,
// and the command creates nothing on it.
func TestDoctor(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "touchline.db")
	s := touchlinetest.New(t, url)
	ask := func(environ []string, args ...string) (int, string) {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"doctor"}, args...), environ, &stdout, &stderr)
		return code, stdout.String() + stderr.String()
	}
	environ := []string{"TOUCHLINE_DATABASE_URL=" + url, "TOUCHLINE_DATA_DIR=" + s.Config.DataDir, "TOUCHLINE_SMS=" + s.Gateway.Spec()}
	if code, out := ask(environ); code != 0 || !strings.Contains(out, "ok       database") || !strings.Contains(out, ", 0 failed") {
		t.Errorf("exit status %d: %s", code, out)
	}
	environ[2] = "TOUCHLINE_SMS=http:http://127.0.0.1:1/send"
	code, out := ask(environ, "--json")
	var report struct {
		OK     bool
		Checks []struct{ Check, Status, Message string }
	}
	text, _, _ := strings.Cut(out, "\n")
	if err := json.Unmarshal([]byte(text), &report); err != nil || code != 3 || report.OK || len(report.Checks) < 15 || !strings.Contains(out, "a check failed") {
		t.Errorf("exit status %d, %v: %s", code, err, out)
	}
	empty := filepath.Join(t.TempDir(), "data")
	if code, out := ask([]string{"TOUCHLINE_DATA_DIR=" + empty}); code != 0 || !strings.Contains(out, "There is no database yet") || !strings.Contains(out, "This is development") {
		t.Errorf("exit status %d: %s", code, out)
	}
	if found, err := filepath.Glob(empty); err != nil || found != nil {
		t.Errorf("the command made %s, %v", found, err)
	}
}
