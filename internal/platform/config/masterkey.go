package config

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

const (
	// masterKey is the key of the setting MASTER_KEY.
	masterKey = "MASTER_KEY"
	// newMasterKey is the key of the setting MASTER_KEY_NEW.
	newMasterKey = "MASTER_KEY_NEW"
	// keySize is in bytes.
	keySize = 32
)

// MasterKeyPath returns the file of the master key if MASTER_KEY is not set.
func (c *Config) MasterKeyPath() string {
	if path := c.origin(masterKey).path; path != "" {
		return path
	}
	return c.defaultMasterKeyPath()
}

// defaultMasterKeyPath returns the only file in which the service creates a master key.
func (c *Config) defaultMasterKeyPath() string { return filepath.Join(c.DataDir, "master.key") }

// checkMasterKeyFile returns the error of a MASTER_KEY_FILE that does not exist. A key that the service created at a mistyped
// path is lost with the container or the machine, and with it everything that it encrypts.
func (c *Config) checkMasterKeyFile() Errors {
	path := c.origin(masterKey).path
	if path == "" || c.MasterKeyBase64 != "" || samePath(path, c.defaultMasterKeyPath()) {
		return nil
	}
	return Errors{{Name: masterKeyFileName(), Value: path, Message: fmt.Sprintf("cannot be read: the file does not exist. "+
		"Restore it if this database has had a master key. For a new database make one for all replicas: umask 077; openssl rand -base64 %d > %s", keySize, path)}}
}

func masterKeyFileName() string {
	s, _ := find(masterKey)
	return s.FileName
}

// samePath reports whether both paths name the same file, without following links.
func samePath(a, b string) bool {
	absolute, err := filepath.Abs(a)
	other, otherErr := filepath.Abs(b)
	return err == nil && otherErr == nil && absolute == other
}

// MasterKeyInDataDir reports whether the master key is in its file in DATA_DIR, because no setting names it.
func (c *Config) MasterKeyInDataDir() bool { return !c.isSet(masterKey) && c.MasterKeyBase64 == "" }

// ReadMasterKey returns the master key, or fs.ErrNotExist if there is none.
func (c *Config) ReadMasterKey() ([]byte, error) {
	if c.MasterKeyBase64 != "" {
		return decodeKey(c.MasterKeyBase64.Reveal())
	}
	return readKey(c.MasterKeyPath())
}

// MasterKeys returns the master key and, if there is one, the next master key. It reads their files
// again, because touchline keys rotate may have replaced them since the start. Errors: fs.ErrNotExist
// if there is none.
func (c *Config) MasterKeys() ([][]byte, error) {
	var keys [][]byte
	var missing error
	for _, k := range []struct {
		name, path string
		value      Secret
	}{
		{masterKey, c.MasterKeyPath(), c.MasterKeyBase64},
		{newMasterKey, c.newMasterKeyPath(), c.NewMasterKeyBase64},
	} {
		var key []byte
		var err error
		switch {
		case k.value != "" && c.origin(k.name).path == "":
			key, err = decodeKey(k.value.Reveal())
		case k.path == "":
			continue
		default:
			key, err = readKey(k.path)
		}
		switch {
		case err == nil:
			keys = append(keys, key)
		case errors.Is(err, fs.ErrNotExist):
			missing = errors.Join(missing, err)
		default:
			return nil, err
		}
	}
	if keys == nil {
		return nil, missing
	}
	return keys, nil
}

// newMasterKeyPath returns the file of the next master key, or "" if there is none.
func (c *Config) newMasterKeyPath() string {
	switch path := c.origin(newMasterKey).path; {
	case path != "":
		return path
	case c.origin(masterKey).path == "" && c.MasterKeyBase64 != "":
		return ""
	default:
		return c.MasterKeyPath() + ".new"
	}
}

// OpenNewMasterKey returns the key in the file at path. If there is no file, it creates one with a new key, if create is set.
func OpenNewMasterKey(path string, create bool) (key []byte, created bool, err error) {
	key, err = readKey(path)
	if !create || !errors.Is(err, fs.ErrNotExist) {
		return key, false, err
	}
	if err := createKey(path); err != nil {
		return nil, false, fmt.Errorf("create the new master key: %w", err)
	}
	key, err = readKey(path)
	return key, true, err
}

// CreateMasterKey returns the master key. If there is none, it creates master.key in DATA_DIR with a new key, and no other
// file. If several processes create it at the same time, the first one wins and all return its key.
func (c *Config) CreateMasterKey() ([]byte, error) {
	key, err := c.ReadMasterKey()
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if errs := c.checkMasterKeyFile(); errs != nil {
		return nil, errs // the file was removed after Load
	}
	path := c.MasterKeyPath()
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("create DATA_DIR: %w", err)
	}
	if err := createKey(path); err != nil {
		return nil, fmt.Errorf("create the master key: %w", err)
	}
	return readKey(path)
}

func readKey(path string) ([]byte, error) {
	text, err := readSecretFile(path)
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("read the master key: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("the master key in %s %w", path, err)
	}
	key, err := decodeKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("the master key in %s %w", path, err)
	}
	return key, nil
}

// createKey writes a new key to path unless the file exists. It writes and syncs a
// temporary file and links it to path, because a link fails if path exists: so no
// process reads half a key, and no process replaces one.
func createKey(path string) (err error) {
	key := make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".master-*.key") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(temp.Name())) }()
	if _, err := temp.WriteString(base64.StdEncoding.EncodeToString(key) + "\n"); err != nil {
		return errors.Join(err, temp.Close())
	}
	if err := errors.Join(temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// SyncFolder makes a new file name in the folder survive a power cut, where the system can do that.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || runtime.GOOS == "windows" {
		err = nil // Windows and some file systems cannot sync a folder
	}
	return errors.Join(err, folder.Close())
}
