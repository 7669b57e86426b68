package admin_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/admin"
)

// TestNoWayToConsent: operators can decide nothing about consent, for what answers
// them does not even know of it.
func TestNoWayToConsent(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dep := range strings.Lines(string(out)) {
		if strings.HasSuffix(strings.TrimSpace(dep), "internal/approval") || strings.HasSuffix(strings.TrimSpace(dep), "internal/store") {
			t.Errorf("admin reaches %s", dep)
		}
	}
	document, err := admin.Document()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"/approval", "/players", "-response"} {
		if strings.Contains(string(document), `"`+word) || strings.Contains(string(document), word+`"`) || strings.Contains(string(document), word+"/") {
			t.Errorf("the document names %s", word)
		}
	}
}
