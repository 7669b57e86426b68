//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/picture/picturetest"
)

// room is what pictures may add to an idle service of 30 MB, in MB, with a little
// left for those who upload meanwhile.
const room = 150

// TestPeak holds the worst of each decoder to the room that there is. The program
// is built anew, as the race detector takes memory and time of its own.
func TestPeak(t *testing.T) {
	program := filepath.Join(t.TempDir(), "pictures")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	worst := map[string]bool{
		"PNG, 16 bits, turned": true, "JPEG, progressive, 4:4:4, 9 MP": true,
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
		if _, err := fmt.Sscan(string(out), &peak); err != nil || peak > room {
			t.Errorf("%s: %s MB, at most %d: %v", h.Name, out, room, err)
		}
		if made := strings.Contains(string(out), "made"); made != h.Accepted {
			t.Errorf("%s: %s", h.Name, out)
		}
	}
}
