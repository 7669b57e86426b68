package database_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store/storetest"
)

func unavailable(tb testing.TB, what string, err error) {
	tb.Helper()
	if fault.KindOf(err) != fault.Unavailable {
		tb.Errorf("%s: got %v, want unavailable", what, err)
	}
}

func TestWritable(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		ok(t, db.Writable(bg))
		ok(t, run(db, `UPDATE counters SET n = 1`))
		ok(t, db.Writable(bg))
		if n := counter(t, db, "a"); n != 1 {
			t.Errorf("n = %d, want 1", n)
		}
	})
}

// After a failover the connections of the pool reach the previous primary, which is
// read-only. The first write succeeds on another connection, and the pool keeps none.
func TestFencedPrimary(t *testing.T) {
	t.Parallel()
	db := openCounters(t, storetest.EmptyPostgres(t))
	fence := func() {
		const clients = 8
		var begun, all sync.WaitGroup
		begun.Add(clients)
		for range clients {
			all.Go(func() {
				err := db.Write(bg, func(tx *database.Tx) error {
					_, err := tx.Exec(bg, `SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY`)
					begun.Done()
					begun.Wait()
					return err
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	fence()
	ok(t, db.Write(bg, func(tx *database.Tx) error { return addTo(tx, "a") }))
	fence()
	ok(t, run(db, `UPDATE counters SET n = n + 1`))
	fence()
	unavailable(t, "readiness on a connection to the previous primary", db.Writable(bg))
	ok(t, db.Writable(bg))
	ok(t, run(db, `UPDATE counters SET n = n + 1`))
	if n := counter(t, db, "a"); n != 3 {
		t.Errorf("n = %d, want 3", n)
	}
}

// A standby serves reads, refuses writes as unavailable, and is not writable until it is
// promoted.
func TestStandby(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	db, admin := openCounters(t, url), openReplica(t, url)
	alter := func(value string) {
		t.Helper()
		ok(t, run(admin, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = `+value+`', current_database()); END $$`))
	}
	alter("on")
	standby := openReplica(t, url)
	unavailable(t, "write", standby.Write(bg, func(tx *database.Tx) error { return addTo(tx, "a") }))
	unavailable(t, "single write", run(standby, `UPDATE counters SET n = n + 1`))
	unavailable(t, "readiness", standby.Writable(bg))
	if n := counter(t, standby, "a"); n != 0 {
		t.Errorf("n = %d, want 0", n)
	}
	alter("off")
	ok(t, run(standby, `UPDATE counters SET n = n + 1`))
	ok(t, standby.Writable(bg))
	ok(t, db.Writable(bg))
}

// A damaged SQLite file is an outage, not a bug of the service.
func TestDamagedSQLiteFile(t *testing.T) {
	t.Parallel()
	url := storetest.EmptySQLite(t)
	path := strings.TrimPrefix(url, "sqlite:")
	db, err := database.Open(bg, url, database.Options{Migrations: counters})
	ok(t, err)
	ok(t, db.Migrate(bg))
	ok(t, run(db, `INSERT INTO counters (name, n) VALUES ('a', 0)`))
	ok(t, db.Close())
	whole, err := os.ReadFile(path)
	ok(t, err)
	for name, damage := range map[string]func() []byte{
		"truncated":   func() []byte { return whole[:len(whole)/2] },
		"overwritten": func() []byte { return append(append([]byte{}, whole[:4096]...), make([]byte, len(whole)-4096)...) },
		"no database": func() []byte { return []byte(strings.Repeat("not a database ", 1000)) },
	} {
		t.Run(name, func(t *testing.T) {
			ok(t, os.WriteFile(path, damage(), 0o600))
			db, err := database.Open(bg, url, database.Options{Migrations: counters})
			if err != nil {
				unavailable(t, "open", err)
				return
			}
			defer db.Close()
			unavailable(t, "read", db.QueryRow(bg, `SELECT n FROM counters`).Scan(new(int)))
			unavailable(t, "write", run(db, `INSERT INTO counters (name, n) VALUES ('b', 0)`))
			ok(t, os.WriteFile(path, whole, 0o600))
			_ = db.QueryRow(bg, `SELECT n FROM counters`).Scan(new(int))
			ok(t, db.QueryRow(bg, `SELECT n FROM counters`).Scan(new(int)))
		})
	}
}
