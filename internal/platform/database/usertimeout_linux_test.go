package database_test

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/touchline/touchline/internal/platform/database"
)

// Connections to PostgreSQL close when sent data is not acknowledged for 10 s, or for the
// time that the URL sets.
func TestUserTimeout(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	defer listener.Close()
	for query, want := range map[string]int{"": 10_000, "?tcp_user_timeout=4000": 4000, "?tcp_user_timeout=7s": 7000, "?tcp_user_timeout=0": 0} {
		conn, err := database.DialPostgres(bg, "postgres://"+listener.Addr().String()+"/x"+query, listener.Addr().String())
		ok(t, err)
		raw, err := conn.(*net.TCPConn).SyscallConn()
		ok(t, err)
		ok(t, raw.Control(func(fd uintptr) {
			if got, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT); err != nil || got != want {
				t.Errorf("URL with %q: TCP_USER_TIMEOUT is %d, %v, want %d", query, got, err, want)
			}
		}))
		ok(t, conn.Close())
	}
}
