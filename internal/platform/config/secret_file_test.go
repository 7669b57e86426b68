package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
)

// TestSecretFileModes: each file with a secret that every user of the machine may use is refused,
// as the file of the master key is, and its content does not matter. A group may read it.
func TestSecretFileModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("S3NT1NEL"), 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{"TOUCHLINE_TLS_KEY"}
	for _, s := range config.Settings() {
		if s.FileName != "" {
			names = append(names, s.FileName)
		}
	}
	if len(names) < 9 {
		t.Fatalf("only %v", names)
	}
	for _, tt := range []struct {
		mode    os.FileMode
		refused bool
	}{{0o600, false}, {0o640, false}, {0o440, false}, {0o666, true}, {0o644, true}, {0o602, true}, {0o601, true}} {
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			_, err := config.Load(nil, []string{name + "=" + path})
			message := ""
			if err != nil {
				message = err.Error()
			}
			if got := strings.Contains(message, name+"="+path+": has mode 0"); got != tt.refused || strings.Contains(message, "S3NT1NEL") && tt.refused {
				t.Errorf("%s, mode %o: got %q, want a refusal: %t", name, tt.mode, message, tt.refused)
			}
		}
	}
}
