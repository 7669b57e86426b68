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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
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
	bin, err := programs()
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
	cmd := exec.Command("/bin/sh", append([]string{"-c", guard, "guard", bin, dir}, settings...)...)
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

// programs returns the folder of initdb and postgres: from PATH, from pg_config, or the
// newest of the folders of Debian, Red Hat and Homebrew.
func programs() (string, error) {
	var dirs []string
	for _, program := range []string{"initdb", "postgres"} {
		if path, err := exec.LookPath(program); err == nil {
			if path, err = filepath.EvalSymlinks(path); err == nil {
				dirs = append(dirs, filepath.Dir(path))
			}
		}
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin",
	} {
		found, _ := filepath.Glob(pattern)
		slices.Reverse(found)
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		if runnable(filepath.Join(dir, "initdb")) && runnable(filepath.Join(dir, "postgres")) {
			return dir, nil
		}
	}
	return "", errors.New("install its server programs (Debian: apt-get install postgresql; macOS: brew install postgresql), " +
		"or set " + serverEnv + " to the URL of a server where databases may be created")
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
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
	return nil, errors.New("run the tests as a user other than root, or add a user postgres: PostgreSQL refuses to run as root")
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
