package server

import (
	"net"
	"os"
	"syscall"
)

// takeWaiting accepts all who wait and in the same breath has the system refuse
// others.
func takeWaiting(l net.Listener) (waiting []net.Conn) {
	raw, ok := l.(syscall.Conn)
	if !ok {
		return nil
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return nil
	}
	var accepted []int
	_ = control.Control(func(fd uintptr) {
		for {
			conn, _, err := syscall.Accept4(int(fd), syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
			if err == syscall.EINTR || err == syscall.ECONNABORTED {
				continue
			}
			if err != nil {
				break
			}
			accepted = append(accepted, conn)
		}
		_ = syscall.Shutdown(int(fd), syscall.SHUT_RD)
	})
	for _, fd := range accepted {
		file := os.NewFile(uintptr(fd), "")
		if conn, err := net.FileConn(file); err == nil {
			waiting = append(waiting, conn)
		}
		_ = file.Close() // conn has a descriptor of its own
	}
	return waiting
}
