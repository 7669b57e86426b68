//go:build !linux

package database

import (
	"syscall"
	"time"
)

// setUserTimeout does nothing: TCP_USER_TIMEOUT is an option of Linux.
func setUserTimeout(syscall.RawConn, time.Duration) error { return nil }
