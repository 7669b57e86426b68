package database_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// modernc.org/sqlite supports exactly the version of modernc.org/libc that its go.mod
// requires. Another dependency that requires a newer libc breaks the pair.
func TestLibcMatchesSQLite(t *testing.T) {
	t.Parallel()
	var sqlite, libc struct{ Version, GoMod string }
	for path, module := range map[string]any{"modernc.org/sqlite": &sqlite, "modernc.org/libc": &libc} {
		out, err := exec.Command("go", "list", "-m", "-json", path).Output()
		if err != nil {
			t.Skipf("go list is needed: %v", err)
		}
		if err := json.NewDecoder(bytes.NewReader(out)).Decode(module); err != nil {
			t.Fatal(err)
		}
	}
	mod, err := os.ReadFile(sqlite.GoMod)
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`(?m)^\s*(?:require\s+)?modernc\.org/libc\s+(v\S+)`).FindSubmatch(mod)
	if want == nil {
		t.Fatalf("%s does not require modernc.org/libc", sqlite.GoMod)
	}
	if libc.Version != string(want[1]) {
		t.Errorf("modernc.org/libc is %s; modernc.org/sqlite %s wants %s", libc.Version, sqlite.Version, want[1])
	}
}
