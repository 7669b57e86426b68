//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/picture/picturetest"
)

// maxPeak is the memory, in MB, that a picture may add to an idle service of 30 MB. Together with
// concurrent uploads it stays within 192 MB.
const maxPeak = 150

// TestPeak measures the heaviest picture of each decoder. It builds the program, because the race
// detector of the test binary needs memory too.
func TestPeak(t *testing.T) {
	program := filepath.Join(t.TempDir(), "pictures")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	worst := map[string]bool{
		"PNG, 16 bits, rotated": true, "JPEG, progressive, 4:4:4, 9 MP": true,
		"JPEG, CMYK": true, "WebP, lossless, 2600 codes": true,
	}
	for _, h := range picturetest.HeavyPictures() {
		if !worst[h.Name] {
			continue
		}
		path := filepath.Join(t.TempDir(), "picture")
		if out, err := exec.Command(program, "-write", h.Name, "-one", path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		out, err := exec.Command(program, "-one", path, "-sizes", "document").CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", h.Name, err, out)
		}
		var peak int
		if _, err := fmt.Sscan(string(out), &peak); err != nil || peak > maxPeak {
			t.Errorf("%s: peak %s MB, want at most %d: %v", h.Name, out, maxPeak, err)
		}
		if accepted := strings.Contains(string(out), "accepted"); accepted != h.Accepted {
			t.Errorf("%s: accepted = %t, want %t: %s", h.Name, accepted, h.Accepted, out)
		}
	}
}
