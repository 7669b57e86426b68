package config

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// masterKey is the key of that setting.
	masterKey = "MASTER_KEY"
	// keySize is the size of the master key in bytes.
	keySize = 32
)

// MasterKeyPath is the file that holds the master key where MASTER_KEY itself is
// not set.
func (c *Config) MasterKeyPath() string {
	if path := c.origin(masterKey).path; path != "" {
		return path
	}
	return filepath.Join(c.DataDir, "master.key")
}

// FindMasterKey is MasterKey without making one: fs.ErrNotExist where there is none.
func (c *Config) FindMasterKey() ([]byte, error) {
	if c.MasterKeyBase64 != "" {
		return decodeKey(c.MasterKeyBase64.Reveal())
	}
	return readKey(c.MasterKeyPath())
}

// MasterKey returns the 32 bytes that wrap the keys in the database: those of
// MASTER_KEY, else those in the file, which is made where there is none yet. Of
// processes that make it at the same time one wins, and all return its key.
func (c *Config) MasterKey() ([]byte, error) {
	key, err := c.FindMasterKey()
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	path := c.MasterKeyPath()
	if c.origin(masterKey).path == "" {
		// A folder that somebody named for the key alone must be there: a path
		// with a slip in it shall not become a new key.
		if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
			return nil, fmt.Errorf("make the data folder: %w", err)
		}
	}
	if err := makeKey(path); err != nil {
		return nil, fmt.Errorf("make the master key: %w", err)
	}
	return readKey(path)
}

func readKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the master key: %w", err)
	}
	key, err := decodeKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("the master key in %s %w", path, err)
	}
	return key, nil
}

// makeKey puts a new key at path unless one is there by then. It is written and
// synced under another name first and then linked, which fails where the name is
// taken: nobody ever reads half a key, and nobody replaces one.
func makeKey(path string) (err error) {
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
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes the new name survive a power cut.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
