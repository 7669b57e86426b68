package database_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store/storetest"
)

var counters = fstest.MapFS{
	"0001_counters.sql": {Data: []byte("-- +goose Up\nCREATE TABLE counters (name TEXT PRIMARY KEY, n BIGINT NOT NULL, note TEXT);\n" +
		"CREATE TABLE limits (key TEXT PRIMARY KEY, occurrences BIGINT NOT NULL, ends_at BIGINT NOT NULL);\n")},
}

var bg = context.Background()

// openCounters opens a database at url with one counter, "a", at 0.
func openCounters(tb testing.TB, url string) *database.DB {
	tb.Helper()
	db, err := database.Open(bg, url, database.Options{Migrations: counters})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	if err := db.Migrate(bg); err != nil {
		tb.Fatal(err)
	}
	ok(tb, run(db, `INSERT INTO counters (name, n) VALUES ('a', 0)`))
	return db
}

func ok(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func run(db *database.DB, q string, args ...any) error {
	_, err := db.Exec(bg, q, args...)
	return err
}

func addTo(tx *database.Tx, name string) error {
	return tx.ExecOne(bg, `UPDATE counters SET n = n + 1 WHERE name = $1`, name)
}

func counter(tb testing.TB, db *database.DB, name string) int {
	tb.Helper()
	var n int
	ok(tb, db.QueryRow(bg, `SELECT n FROM counters WHERE name = $1`, name).Scan(&n))
	return n
}

func eachEngine(t *testing.T, test func(t *testing.T, db *database.DB)) {
	storetest.EachEmpty(t, func(t *testing.T, url string) { test(t, openCounters(t, url)) })
}

func TestReads(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		err := db.QueryRow(bg, `SELECT n FROM counters WHERE name = $1`, "none").Scan(new(int))
		if !errors.Is(err, sql.ErrNoRows) || fault.KindOf(err) != fault.Internal {
			t.Errorf("err = %v, want no rows", err)
		}
		err = db.View(bg, func(tx *database.Tx) error {
			var before, after int
			ok(t, tx.QueryRow(bg, `SELECT n FROM counters`).Scan(&before))
			ok(t, run(db, `UPDATE counters SET n = n + 1`))
			ok(t, tx.QueryRow(bg, `SELECT n FROM counters`).Scan(&after))
			if before != after {
				t.Errorf("a View read %d, then %d; want one state", before, after)
			}
			return nil
		})
		ok(t, err)
		if err := db.View(bg, func(tx *database.Tx) error { return addTo(tx, "a") }); err == nil {
			t.Error("a statement in a View wrote")
		}
		if n := counter(t, db, "a"); n != 1 {
			t.Errorf("n = %d, want 1", n)
		}
	})
}

// A prepared statement takes another limit at each execution, and SQLite does not plan it again
// for that.
func TestLimitParameter(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		ok(t, run(db, `INSERT INTO counters (name, n) VALUES ('b', 0), ('c', 0)`))
		for _, limit := range []int{2, 0, 3, 1} {
			const query = `SELECT name FROM counters ORDER BY name LIMIT $1`
			count := func(q database.Querier) int {
				rs, err := q.Query(bg, query, limit)
				names, err := database.Collect(rs, err, func(s database.Scanner) (name string, err error) { return name, s.Scan(&name) })
				ok(t, err)
				return len(names)
			}
			if n := count(db); n != limit {
				t.Errorf("got %d rows with LIMIT %d", n, limit)
			}
			ok(t, db.View(bg, func(tx *database.Tx) error {
				if n := count(tx); n != limit {
					t.Errorf("got %d rows with LIMIT %d in a View", n, limit)
				}
				return nil
			}))
		}
	})
	if got, want := database.PlannedOnce(`a LIMIT $2) b LIMIT 5`), `a LIMIT +$2) b LIMIT 5`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Concurrent Views that hold every connection, each with a statement that is not prepared
// yet, do not deadlock.
func TestViewsDoNotDeadlock(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		views := runtime.GOMAXPROCS(0)
		var begun, all sync.WaitGroup
		begun.Add(views)
		for view := range views {
			all.Go(func() {
				ok(t, db.View(bg, func(tx *database.Tx) error {
					begun.Done()
					begun.Wait()
					var n int
					return tx.QueryRow(bg, fmt.Sprintf("SELECT %d", 100+view)).Scan(&n)
				}))
			})
		}
		done := make(chan struct{})
		go func() { all.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatal("the Views did not end in a minute")
		}
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		started := make(chan struct{})
		written := make(chan error)
		go func() {
			written <- db.Write(bg, func(tx *database.Tx) error {
				close(started)
				time.Sleep(50 * time.Millisecond) // Close has begun by then, mostly; the test holds for both orders
				return addTo(tx, "a")
			})
		}()
		<-started
		closed := make(chan error)
		go func() { closed <- db.Close() }()
		ok(t, <-written)
		ok(t, <-closed)
		ok(t, db.Close())
		if err := run(db, `UPDATE counters SET n = 7`); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("write after close: %v", err)
		}
		if err := db.Ping(bg); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("read after close: %v", err)
		}
	})
}

func TestSQLiteFull(t *testing.T) {
	t.Parallel()
	for _, clients := range []int{1, 20} {
		t.Run(fmt.Sprint(clients), func(t *testing.T) {
			db := openCounters(t, storetest.EmptySQLite(t))
			_, err := db.MaxPages(bg, 2)
			ok(t, err)
			big := strings.Repeat("x", 100_000)
			var all sync.WaitGroup
			for i := range clients {
				all.Go(func() {
					err := run(db, `INSERT INTO counters (name, n, note) VALUES ($1, 0, $2)`, fmt.Sprint("big", i), big)
					if fault.KindOf(err) != fault.Unavailable {
						t.Errorf("err = %v, want unavailable", err)
					}
					// A small write succeeds in the same batch.
					if err := db.Write(bg, func(tx *database.Tx) error { return addTo(tx, "a") }); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if n := counter(t, db, "a"); n != clients {
				t.Errorf("n = %d, want %d", n, clients)
			}
			_, err = db.MaxPages(bg, 0)
			ok(t, err)
			ok(t, run(db, `INSERT INTO counters (name, n, note) VALUES ($1, 0, $2)`, "big", big))
		})
	}
}

func TestPostgresReconnects(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	db, other := openCounters(t, url), openReplica(t, url)
	kill := func() {
		t.Helper()
		rs, err := other.Query(bg, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		ok(t, err)
		for rs.Next() {
		}
		ok(t, rs.Err())
	}
	for range 5 {
		var all sync.WaitGroup
		for range 12 {
			all.Go(func() { _ = db.View(bg, func(*database.Tx) error { time.Sleep(5 * time.Millisecond); return nil }) })
		}
		all.Wait()
		kill()
		ok(t, db.Ping(bg))
		kill()
		ok(t, db.Write(bg, func(tx *database.Tx) error { return addTo(tx, "a") }))
	}
	// A connection that is lost during a transaction: it runs twice.
	attempts := 0
	ok(t, db.Write(bg, func(tx *database.Tx) error {
		if err := addTo(tx, "a"); err != nil {
			return err
		}
		if attempts++; attempts == 1 {
			kill()
		}
		return addTo(tx, "a")
	}))
	if n := counter(t, db, "a"); n != 7 || attempts != 2 {
		t.Errorf("n = %d after %d attempts, want 7 after 2", n, attempts)
	}
}

// openReplica opens a database that openCounters has opened before.
func openReplica(tb testing.TB, url string) *database.DB {
	tb.Helper()
	db, err := database.Open(bg, url, database.Options{Migrations: counters, MaxConns: 2})
	ok(tb, err)
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "mysql://x", "sqlite:", "sqlite://host/x", "sqlite:a?b", "postgres://u:secret@h:port/x"} {
		err := database.ParseURL(url)
		if err == nil || strings.Contains(err.Error(), "secret") || fault.KindOf(err) == fault.Unavailable {
			t.Errorf("%q: err = %v", url, err)
		}
	}
	folder := t.TempDir()
	for _, url := range []string{"sqlite:" + folder, "postgres://u@127.0.0.1:1/x"} {
		if _, err := database.Open(bg, url, database.Options{}); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%q: err = %v, want unavailable", url, err)
		}
	}
}

func TestSQLiteFileMode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new folder", "touch%20line#1.db")
	if strings.ContainsRune(path, '#') {
		path = strings.ReplaceAll(path, "#", "-")
	}
	openCounters(t, "sqlite:"+path)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		ok(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", suffix, info.Mode())
		}
	}
}

func TestConcurrentFirstOpens(t *testing.T) {
	t.Parallel()
	for range 20 {
		url := storetest.EmptySQLite(t)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				db, err := database.Open(t.Context(), url, database.Options{})
				if err != nil {
					t.Errorf("open a new file: %v", err)
					return
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}
