package config

import (
	"fmt"
	"io"
	"os"
	"runtime"
)

// maxSecretFile limits a file with a secret, in bytes.
const maxSecretFile = 64 << 10

// readSecretFile returns the content of a file with a secret: a *fs.PathError if it cannot be read,
// and another error if every user of the machine may use it.
func readSecretFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	// A group may read a secret: orchestrators give files to a group. Windows has no such mode, and
	// a pipe has no other reader.
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && info.Mode().IsRegular() && mode&0o007 != 0 {
		return nil, fmt.Errorf("has mode %04o: every user of this machine may use it; run chmod 600, and replace the secret if others could read it", mode)
	}
	return io.ReadAll(io.LimitReader(f, maxSecretFile))
}
