//go:build unix

package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/touchline/touchline/internal/platform/programtest"
)

// startTime is the time in which a cluster must respond. Other packages' tests may keep
// the machine busy.
const startTime = time.Minute

// guard runs the server. Its standard input closes when the test process ends, also when
// it is killed; then guard stops the server and deletes the folder. No test needs a
// TestMain for that.
const guard = `
trap '' INT TERM HUP
bin=$1 dir=$2
shift 2
"$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C --no-sync --no-instructions \
	</dev/null >"$dir/log" 2>&1 || exit
"$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c max_connections=200 -c shared_buffers=64MB \
	"$@" >>"$dir/log" 2>&1 &
server=$!
cat >/dev/null
kill -QUIT $server
wait $server
cd / && rm -rf "$dir"
`

// startCluster creates a cluster in a new folder within folder, or within the one of
// temporary files if that is empty, and starts it with settings. It listens on a Unix
// socket in the new folder only.
func startCluster(folder string, settings ...string) (*url.URL, error) {
	initdb, err := programtest.PostgreSQL.Find()
	if err == nil {
		initdb, err = filepath.EvalSymlinks(initdb) // postgres is in the same folder
	}
	if err != nil {
		return nil, err
	}
	owner, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := makeFolder(folder, owner)
	if err != nil {
		return nil, err
	}
	watched, held, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", guard, "guard", filepath.Dir(initdb), dir}, settings...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	cmd.Stdin = watched
	// A separate process group: an interrupt in the terminal must reach the tests only.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: owner}
	err = cmd.Start()
	_ = watched.Close()
	if err != nil {
		_ = held.Close()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	exited := make(chan error, 1)
	go func() {
		exited <- cmd.Wait()
		runtime.KeepAlive(held) // garbage collection would close it
	}()

	server := &url.URL{
		Scheme:   "postgres",
		User:     url.User("postgres"),
		Path:     "/postgres",
		RawQuery: url.Values{"host": {dir}, "sslmode": {"disable"}}.Encode(),
	}
	timeout := time.After(startTime)
	for {
		if err = administer(server, "SELECT 1"); err == nil {
			return server, nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
			continue
		case <-timeout:
		case <-exited:
		}
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		err = fmt.Errorf("the cluster did not start: %w\n%s", err, bytes.TrimSpace(log))
		// If guard has exited early, it has not deleted the folder.
		return nil, errors.Join(err, held.Close(), os.RemoveAll(dir))
	}
}

// unprivileged returns the user for the server, because PostgreSQL refuses to run as
// root. It is nil if the tests do not run as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, fmt.Errorf("PostgreSQL refuses to run as root: run the tests as another user, add a user postgres, %w", errNoCluster)
}

// makeFolder creates a folder for owner only, in parent or, if that is empty, in the
// folder of temporary files. Its path is short, because the path of a socket has at most
// 103 bytes.
func makeFolder(parent string, owner *syscall.Credential) (string, error) {
	if parent == "" {
		parent = os.TempDir()
		if owner != nil || len(parent) > 60 {
			parent = "/tmp" // root's own TMPDIR may be closed to others
		}
	}
	dir, err := os.MkdirTemp(parent, "touchline-pg-")
	if err != nil {
		return "", err
	}
	if owner != nil {
		if err := os.Chown(dir, int(owner.Uid), int(owner.Gid)); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}
