package admin_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/admin"
)

// TestOperatorsCannotChangeConsents checks that the package imports neither approval nor
// store, and that its OpenAPI document has no path for consents.
func TestOperatorsCannotChangeConsents(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		if strings.HasSuffix(strings.TrimSpace(dep), "touchline/internal/approval") || strings.HasSuffix(strings.TrimSpace(dep), "touchline/internal/store") {
			t.Errorf("package admin depends on %s", dep)
		}
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
