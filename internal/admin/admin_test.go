package admin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/admin"
)

// writesConsent matches a statement that writes the consents of a player.
var writesConsent = regexp.MustCompile("INSERT INTO (players|parties)|UPDATE parties")

// TestOperatorsCannotChangeConsents checks that the package depends on no package that writes
// consents, and that its OpenAPI document has no path for consents.
func TestOperatorsCannotChangeConsents(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.Dir}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	own := 0
	for dir := range strings.Lines(string(out)) {
		if dir = strings.TrimSpace(dir); !strings.Contains(filepath.ToSlash(dir), "/internal/") || strings.Contains(dir, "@") {
			continue
		}
		own++
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if source, err := os.ReadFile(file); err != nil || writesConsent.Match(source) && !strings.HasSuffix(file, "_test.go") {
				t.Errorf("package admin depends on %s, which writes consents: %v", file, err)
			}
		}
	}
	if own < 10 {
		t.Errorf("checked %d packages, want all that admin depends on", own)
	}
	if source, err := os.ReadFile("../player/save.go"); err != nil || !writesConsent.Match(source) {
		t.Errorf("the pattern does not match the statements of consents: %v", err)
	}
	document, err := admin.Document()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"/approval", "/players", "-response"} {
		if strings.Contains(string(document), `"`+word) || strings.Contains(string(document), word+`"`) || strings.Contains(string(document), word+"/") {
			t.Errorf("the OpenAPI document contains %s", word)
		}
	}
}
