package database

import (
	"cmp"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// setUserTimeout limits how long sent data may stay unacknowledged before the connection
// is closed; 0 is the system's default.
func setUserTimeout(c syscall.RawConn, timeout time.Duration) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(timeout.Milliseconds()))
	})
	return cmp.Or(err, failed)
}
