//go:build unix

package storetest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/programtest"
)

// PgBouncer starts PgBouncer in transaction mode in front of the database at address, on
// two server connections, and returns the URL of its socket. Without the program it skips tb.
func PgBouncer(tb testing.TB, address string) string {
	tb.Helper()
	program := programtest.PgBouncer.Need(tb)
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	owner, err := unprivileged()
	if err != nil {
		tb.Fatal(err)
	}
	dir, err := makeFolder("", owner)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { os.RemoveAll(dir) })
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = %s\n[pgbouncer]\nlisten_port = 6432\nunix_socket_dir = %s\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 2\n", connection(u), dir)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chmod(config, 0o644); err != nil { // whatever the umask is, PgBouncer runs as another user
		tb.Fatal(err)
	}
	cmd := exec.Command(program, config)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	cmd.Stderr = tb.Output()
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	waitForSocket(tb, filepath.Join(dir, ".s.PGSQL.6432"))
	pooled := &url.URL{Scheme: "postgres", User: url.User("postgres"), Path: u.Path}
	pooled.RawQuery = url.Values{"host": {dir}, "port": {"6432"}, "sslmode": {"disable"}}.Encode()
	return pooled.String()
}

// connection returns the parameters of a PgBouncer database that connect to the server of u.
func connection(u *url.URL) string {
	host, port := u.Hostname(), u.Port()
	if socket := u.Query().Get("host"); socket != "" {
		host = socket
	}
	if port == "" {
		port = "5432"
	}
	server := fmt.Sprintf("host=%s port=%s user=%s", host, port, u.User.Username())
	if password, ok := u.User.Password(); ok {
		server += " password=" + password
	}
	return server
}

// waitForSocket waits until a process listens on a Unix socket.
func waitForSocket(tb testing.TB, path string) {
	tb.Helper()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("unix", path)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Since(start) > startTime {
			tb.Fatalf("%s: no process listens: %v", path, err)
		}
	}
}
