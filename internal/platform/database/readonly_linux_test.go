package database_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/touchline/touchline/internal/platform/database"
)

// A service that started while the SQLite file was read-only takes writes as soon as the
// file does.
func TestReadOnlySQLiteFileRecovers(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "readonly") // parents of t.TempDir are closed to others
	ok(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	ok(t, os.Chmod(dir, 0o777))
	path := filepath.Join(dir, "touchline.db")
	raw, err := sql.Open("sqlite", "file:"+path)
	ok(t, err)
	_, err = raw.Exec(`PRAGMA journal_mode = WAL; CREATE TABLE counters (name TEXT PRIMARY KEY, n BIGINT NOT NULL, note TEXT)`)
	ok(t, err)
	ok(t, raw.Close())
	ok(t, os.Chmod(path, 0o444))

	var db *database.DB
	asUnprivileged(t, func() { db, err = database.Open(bg, "sqlite:"+path, database.Options{Migrations: counters}) })
	ok(t, err)
	defer db.Close()
	insert := `INSERT INTO counters (name, n) VALUES ('a', 0)`
	if os.Geteuid() != 0 { // for root a second connection can write
		unavailable(t, "write", run(db, insert))
		unavailable(t, "readiness", db.Writable(bg))
		files, err := filepath.Glob(path + "*") // SQLite gave the write-ahead log the mode of the file
		ok(t, err)
		for _, file := range files {
			ok(t, os.Chmod(file, 0o644))
		}
	}
	start := time.Now()
	ok(t, run(db, insert))
	ok(t, db.Writable(bg))
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s to write again", took)
	}
}

// asUnprivileged runs fn without root's right to write any file.
func asUnprivileged(t *testing.T, fn func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		fn()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ok(t, unix.Setfsuid(65534))
	defer func() { ok(t, unix.Setfsuid(0)) }()
	fn()
}
