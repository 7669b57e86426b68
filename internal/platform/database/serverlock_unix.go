//go:build unix

package database

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks file for this process, or reports that another process has locked it.
func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
