package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// backUp makes a key and a backup, and returns their files.
func backUp(t *testing.T, environ []string) (key, backup string) {
	t.Helper()
	var out, warnings bytes.Buffer
	if code := run(t.Context(), []string{"backup", "keygen"}, nil, &out, &warnings); code != 0 {
		t.Fatalf("exit status %d: %s", code, warnings.String())
	}
	dir := t.TempDir()
	key, backup = filepath.Join(dir, "backup.key"), filepath.Join(dir, "backup.age")
	recipients := filepath.Join(dir, "recipients")
	public := regexp.MustCompile(`(?m)^# public key: (age1\S+)$`).FindSubmatch(out.Bytes())
	if public == nil {
		t.Fatalf("the key is %s", out.String())
	}
	for path, text := range map[string][]byte{key: out.Bytes(), recipients: append([]byte("# who reads backups\n"), public[1]...)} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code := run(t.Context(), []string{"backup", "--to", backup, "--recipients-file", recipients}, environ, &warnings, &warnings); code != 0 {
		t.Fatalf("exit status %d: %s", code, warnings.String())
	}
	return key, backup
}

// TestBackupCommands makes, verifies and restores a backup with the commands, also of a damaged file.
func TestBackupCommands(t *testing.T) {
	temporary := t.TempDir()
	url := "sqlite:" + filepath.Join(t.TempDir(), "touchline.db")
	s := touchlinetest.New(t, url)
	s.Coach(t, "+919812300001").AddPlayer(t, touchlinetest.Minor("+919812300003", ""))
	environ := []string{"TOUCHLINE_DATABASE_URL=" + url, "TOUCHLINE_DATA_DIR=" + s.Config.DataDir}
	key, backup := backUp(t, environ)
	t.Setenv("TMPDIR", temporary)
	command := func(want int, pattern string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		code := run(t.Context(), args, environ, &out, &out)
		if code != want || !regexp.MustCompile(pattern).MatchString(out.String()) {
			t.Errorf("%q: exit status %d, want %d and %s: %s", args, code, want, pattern, out.String())
		}
	}
	if info, err := os.Stat(backup); err != nil || info.Mode() != 0o600 {
		t.Errorf("the backup has the mode %v, %v", info, err)
	}
	recipient := func() string {
		text, err := os.ReadFile(key)
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`age1\S+`).FindString(string(text))
	}()
	command(1, "exists already", "backup", "--to", backup, "--recipient", recipient)
	command(2, "--recipient", "backup", "--to", backup)
	command(2, "public key of age", "backup", "--to", backup, "--recipient", "age1x")
	command(2, "--to", "backup", "--recipient", recipient)
	command(1, "no such file", "backup", "--to", "-", "--recipient", recipient, "--database-url=sqlite:/none/touchline.db")
	command(0, `"bytes":[1-9]\d+,.*"file":".*/touchline-\d{8}T\d{6}Z.age"`, "backup", "--json", "--to", filepath.Dir(backup), "--recipient", recipient)

	command(0, `(?s)has \d+ tables with .*Nothing contradicts`, "backup", "verify", backup, "--identity", key)
	command(0, `"findings":\[\]`, "backup", "verify", backup, "--identity", key, "--json")
	command(2, "--identity", "backup", "verify", backup)
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	content, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(temporary, "cut.age")
	if err := os.WriteFile(cut, content[:len(content)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	command(3, "damaged or not complete", "backup", "verify", cut, "--identity", key)
	another, _ := backUp(t, environ)
	command(1, "no identity opens", "backup", "verify", backup, "--identity", another)
	command(3, "does not start on the copy", "backup", "verify", backup, "--identity", key, "--master-key-file="+otherMasterKey(t))

	to := "--database-url=sqlite:" + filepath.Join(temporary, "restored.db")
	ledger := "--erasures=" + filepath.Join(temporary, "erasures")
	command(1, "damaged or not complete", "restore", cut, "--identity", key, to, ledger, "--yes")
	command(0, "It is complete. The command would restore it into sqlite:", "restore", backup, "--identity", key, to, ledger, "--dry-run")
	command(0, "It was restored into sqlite:", "restore", backup, "--identity", key, to, ledger, "--yes")
	command(1, "the target has data", "restore", backup, "--identity", key, to, ledger, "--yes")
	command(1, "a service runs on it|the target has data", "restore", backup, "--identity", key, "--yes")

	var out, text bytes.Buffer
	if code := run(t.Context(), []string{"backup", "--to", "-", "--recipient", recipient}, environ, &out, &text); code != 0 || !strings.HasPrefix(out.String(), "age-encryption.org/v1\n") {
		t.Errorf("exit status %d: %s", code, text.String())
	}
}

func otherMasterKey(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(path, []byte("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBackupNotWritten: a backup that cannot be written leaves no file. Its error names the reason.
func TestBackupNotWritten(t *testing.T) {
	dir := t.TempDir()
	_, err := createFile(filepath.Join(dir, "backup.age"), func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		return syscall.ENOSPC
	})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want no space left on device", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := createFile(filepath.Join(file, "backup.age"), nil); !errors.Is(err, syscall.ENOTDIR) || strings.Contains(err.Error(), "exists") {
		t.Errorf("got %v, want not a directory", err)
	}
}
