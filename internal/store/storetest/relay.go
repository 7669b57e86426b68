package storetest

import (
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// Relay listens on a Unix socket in front of the PostgreSQL server at address and returns
// the URL of the socket. serve handles each connection: it gets the two ends and usually
// starts Copy in both directions.
func Relay(t *testing.T, address string, serve func(client, server net.Conn)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	network, target := "unix", filepath.Join(q.Get("host"), ".s.PGSQL.5432")
	if q.Get("host") == "" {
		network, target = "tcp", u.Host
	}
	dir, err := os.MkdirTemp("", "relay") // t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, target)
			if err != nil {
				client.Close()
				continue
			}
			serve(client, server)
		}
	}()
	q.Set("host", dir)
	u.RawQuery, u.Host = q.Encode(), ""
	return u.String()
}

// Copy copies from one end to the other until either closes, and then closes both. It
// calls received before it passes on what it has read.
func Copy(to, from net.Conn, received func()) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			received()
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
