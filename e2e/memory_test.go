package e2e_test

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

var memoryFolder = regexp.MustCompile(`(?m)^The data is in (.+) until the service stops$`)

// TestInMemory: with DATA_DIR=:memory: the data ends with the service. Other commands find it in the folder that serve prints.
func TestInMemory(t *testing.T) {
	t.Parallel()
	p := startServer(t, "TOUCHLINE_DATA_DIR=:memory:")
	printed := memoryFolder.FindStringSubmatch(p.stdout.String())
	if printed == nil {
		t.Fatalf("the folder is not printed: %s", p.stdout)
	}
	if info, err := os.Stat(printed[1]); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info, err)
	}
	if status, _, _ := p.get("/readyz"); status != 200 {
		t.Errorf("readyz: got %d", status)
	}
	token := launch(t, p.dir, []string{"admin", "token", "create", "--name", "x", "--scopes", "kyc"}, "TOUCHLINE_DATA_DIR="+printed[1])
	if code := token.wait(waitLimit); code != 0 || !strings.HasPrefix(token.stdout.String(), "tlo_") {
		t.Errorf("a command with the folder: exit status %d, %s", code, token.stderrText())
	}
	other := launch(t, p.dir, []string{"admin", "token", "list"}, "TOUCHLINE_DATA_DIR=:memory:")
	if code := other.wait(waitLimit); code != 1 || !strings.Contains(other.stderrText(), "folder that it prints") {
		t.Errorf("a command with :memory:: exit status %d, %s", code, other.stderrText())
	}
	p.interrupt()
	if code := p.wait(waitLimit); code != 0 {
		t.Errorf("exit status %d: %s", code, p.stderrText())
	}
	if _, err := os.Stat(printed[1]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
	if left, err := os.ReadDir(p.dir); err != nil || len(left) != 0 {
		t.Errorf("the working folder has %v, %v", left, err)
	}
}
