package config_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
)

func TestMasterKeyIsCreatedOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "data")
	c := load(t, []string{"--data-dir", dir}, nil)
	if err := c.Print(io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Fatal("Print created the data folder")
	}

	const processes = 16
	keys := make([][]byte, processes)
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			key, err := c.CreateMasterKey()
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, key := range keys {
		if len(key) != 32 || !bytes.Equal(key, keys[0]) || bytes.Equal(key, make([]byte, 32)) {
			t.Fatalf("concurrent calls returned different keys, or not 32 bytes: %v", keys)
		}
	}

	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "master.key" {
		t.Fatalf("the folder holds %v, %v; want only master.key", entries, err)
	}
	if info, err := os.Stat(c.MasterKeyPath()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the file = %v, %v; want 0600", info.Mode(), err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode of the folder = %v, %v; want 0700", info.Mode(), err)
	}
	if again, err := load(t, []string{"--data-dir", dir}, nil).CreateMasterKey(); err != nil || !bytes.Equal(again, keys[0]) {
		t.Errorf("another process reads %v, %v; want the same key", again, err)
	}
}

func TestMasterKeyFromSetting(t *testing.T) {
	key := bytes.Repeat([]byte{0xfb, 0xff}, 16)
	for name, text := range map[string]string{
		"standard": base64.StdEncoding.EncodeToString(key),
		"unpadded": base64.RawStdEncoding.EncodeToString(key),
		"for URLs": base64.URLEncoding.EncodeToString(key),
	} {
		dir := t.TempDir()
		c := load(t, []string{"--data-dir", dir}, env("MASTER_KEY="+text))
		if got, err := c.CreateMasterKey(); err != nil || !bytes.Equal(got, key) {
			t.Errorf("%s: MasterKey = %v, %v", name, got, err)
		}
		file := filepath.Join(dir, "k")
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c = load(t, []string{"--data-dir", dir, "--master-key-file", file}, nil)
		if got, err := c.CreateMasterKey(); err != nil || !bytes.Equal(got, key) {
			t.Errorf("%s from a file: MasterKey = %v, %v", name, got, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "master.key")); err == nil {
			t.Errorf("%s: a key file was created although MASTER_KEY is set", name)
		}
	}
}

func TestMasterKeyFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Symlink("nowhere", "dangling"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "k"), "k", "dangling", filepath.Join(dir, "no", "such", "k"), "data/master.kye", "data/master.key.new", "/master.key"} {
		for _, given := range [][2][]string{
			{{"--data-dir", "data", "--master-key-file", path}, nil},
			{{"--data-dir", "data"}, env("MASTER_KEY_FILE=" + path)},
			{nil, env("DATA_DIR=data", "MASTER_KEY_FILE="+path, "DATABASE_URL=postgres://db.example/t")},
		} {
			_, err := config.Load(given[0], given[1])
			if err == nil || !strings.Contains(err.Error(), "TOUCHLINE_MASTER_KEY_FILE="+path) || !strings.Contains(err.Error(), "openssl rand -base64 32 > "+path) {
				t.Errorf("%q: got %v, want an error that says how to make the file", given, err)
			}
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v; want only the link", entries, err)
	}
	// The default path is created, also if the setting names it.
	named := load(t, []string{"--data-dir", "data", "--master-key-file", filepath.Join(dir, "data", ".", "master.key")}, nil)
	first, err := named.CreateMasterKey()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := load(t, []string{"--data-dir", "data"}, nil).CreateMasterKey(); err != nil || !bytes.Equal(first, again) {
		t.Errorf("read the created key again: got another key, %v", err)
	}
	// A file that is removed after the settings were read is not created either.
	other := filepath.Join(dir, "other.key")
	if err := os.Rename(filepath.Join("data", "master.key"), other); err != nil {
		t.Fatal(err)
	}
	c := load(t, nil, env("MASTER_KEY_FILE="+other))
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if key, err := c.CreateMasterKey(); err != nil || !bytes.Equal(key, first) {
		t.Errorf("the key that was read: %v, %v", key, err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("a key was created at the path of MASTER_KEY_FILE")
	}
}

func TestMasterKeyDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "master.key")
	for _, text := range []string{"", "S3NT1NEL", strings.Repeat("A", 42)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := load(t, []string{"--data-dir", dir}, nil)
		if _, err := c.CreateMasterKey(); err == nil || strings.Contains(err.Error(), "S3NT1NEL") {
			t.Errorf("%q: err = %v, want one without the key", text, err)
		}
		if kept, _ := os.ReadFile(path); string(kept) != text {
			t.Errorf("%q was overwritten", text)
		}
	}
	if _, err := config.Load([]string{"--master-key-file", path}, nil); err == nil {
		t.Error("Load accepted a damaged key file")
	}
}

// TestDangerousMasterKeys: a key of zeros and a file that every user may read are
// refused, wherever the key comes from.
func TestDangerousMasterKeys(t *testing.T) {
	zeros := base64.StdEncoding.EncodeToString(make([]byte, 32))
	good := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	if _, err := config.Load(nil, env("MASTER_KEY="+zeros)); err == nil || !strings.Contains(err.Error(), "all zeros") {
		t.Errorf("MASTER_KEY of zeros: got %v", err)
	}
	for _, tt := range []struct {
		text string
		mode os.FileMode
		want string // in the error; empty for none
	}{
		{good, 0o600, ""},
		{good, 0o400, ""},
		{good, 0o440, ""},
		{good, 0o644, "mode 0644"},
		{good, 0o604, "mode 0604"},
		{good, 0o602, "mode 0602"},
		{zeros, 0o600, "all zeros"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "master.key")
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, tt.mode); err != nil {
			t.Fatal(err)
		}
		_, named := config.Load(nil, env("MASTER_KEY_FILE="+file))
		_, inDataDir := load(t, []string{"--data-dir", dir}, nil).CreateMasterKey()
		for what, err := range map[string]error{"MASTER_KEY_FILE": named, "DATA_DIR": inDataDir} {
			if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), good)) {
				t.Errorf("%s, mode %o: got %v, want %q", what, tt.mode, err, tt.want)
			}
		}
	}
}
