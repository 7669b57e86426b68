package database_test

import (
	"database/sql"
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store/storetest"
)

const (
	addLimit  = `INSERT INTO limits (key, occurrences, ends_at) VALUES ($1, $2, $3)`
	growLimit = `UPDATE limits SET occurrences = occurrences + 1 WHERE key = $1`
	readLimit = `UPDATE limits SET occurrences = occurrences + 1 WHERE key = $1 RETURNING occurrences, ends_at`
)

// Deferred statements run in order, before the next statement and before the commit.
func TestDefer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		var n, ends, seen int64
		ok(t, db.Write(bg, func(tx *database.Tx) error {
			ok(t, tx.Defer(bg, addLimit, "a", 1, 7))
			ok(t, tx.DeferOne(bg, growLimit, "a"))
			ok(t, tx.QueryRow(bg, `SELECT occurrences FROM limits WHERE key = $1`, "a").Scan(&seen))
			ok(t, tx.DeferOne(bg, growLimit, "a"))
			return tx.DeferRow(bg, func(row database.Scanner) error { return row.Scan(&n, &ends) }, readLimit, "a")
		}))
		if seen != 2 || n != 4 || ends != 7 {
			t.Errorf("read %d, then n = %d, ends = %d; want 2, 4, 7", seen, n, ends)
		}
	})
}

// DeferRows scans each row, before the next statement and before the commit.
func TestDeferRows(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		const list = `SELECT key FROM limits WHERE occurrences < $1 ORDER BY key`
		var first, last []string
		into := func(keys *[]string) func(database.Scanner) error {
			return func(row database.Scanner) error {
				*keys = append(*keys, "")
				return row.Scan(&(*keys)[len(*keys)-1])
			}
		}
		ok(t, db.Write(bg, func(tx *database.Tx) error {
			first, last = nil, nil
			ok(t, tx.Defer(bg, addLimit, "a", 1, 7))
			ok(t, tx.Defer(bg, addLimit, "b", 2, 7))
			ok(t, tx.DeferRows(bg, into(&first), list, 9))
			ok(t, tx.DeferRows(bg, into(&first), list, 0))
			ok(t, tx.ExecOne(bg, growLimit, "b"))
			if !slices.Equal(first, []string{"a", "b"}) {
				t.Errorf("read %q, want a and b", first)
			}
			return tx.DeferRows(bg, into(&last), list, 3)
		}))
		if !slices.Equal(last, []string{"a"}) {
			t.Errorf("read %q, want a", last)
		}
	})
}

// The transaction is retried if a deferred guard affects no row.
func TestDeferOneReattempts(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		attempts := 0
		ok(t, db.Write(bg, func(tx *database.Tx) error {
			attempts++
			if err := tx.Defer(bg, addLimit, "b", 1, 1); err != nil {
				return err
			}
			key := "b"
			if attempts == 1 {
				key = "missing"
			}
			if err := tx.DeferOne(bg, growLimit, key); err != nil {
				return err
			}
			return tx.DeferOne(bg, growLimit, "b")
		}))
		if n := count(t, db, `SELECT occurrences FROM limits WHERE key = 'b'`); attempts != 2 || n != 3 {
			t.Errorf("n = %d after %d attempts, want 2 attempts", n, attempts)
		}
	})
}

// The transaction is also retried if its function returns another error for ErrStale,
// because it takes the failure of the deferred guard for a failure of the next statement.
func TestDeferOneReattemptsAfterAnotherError(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		ended := errors.New("it has ended")
		attempts := 0
		ok(t, run(db, addLimit, "d", 0, 1))
		ok(t, db.Write(bg, func(tx *database.Tx) error {
			attempts++
			key := "d"
			if attempts == 1 {
				key = "missing"
			}
			if err := tx.DeferOne(bg, growLimit, key); err != nil {
				return err
			}
			err := tx.ExecOne(bg, growLimit, "d")
			if errors.Is(err, database.ErrStale) {
				return ended
			}
			return err
		}))
		if n := count(t, db, `SELECT occurrences FROM limits WHERE key = 'd'`); attempts != 2 || n != 2 {
			t.Errorf("n = %d after %d attempts, want 2 attempts", n, attempts)
		}
	})
}

// If the connection was lost before the only batch of a transaction, nothing was sent, so
// the transaction is retried on another connection.
func TestPostgresDeferOnLostConnection(t *testing.T) {
	t.Parallel()
	address := storetest.EmptyPostgres(t)
	other := openCounters(t, address)
	closed := make(chan struct{}, 10)
	db, err := database.Open(bg, storetest.Relay(t, address, func(client, server net.Conn) {
		go storetest.Copy(server, client, func() {})
		go func() {
			session := false // a connection that cancels a statement receives nothing
			storetest.Copy(client, server, func() { session = true })
			if session {
				closed <- struct{}{}
			}
		}()
	}), database.Options{Migrations: counters, MaxConns: 1})
	ok(t, err)
	defer db.Close()
	for i := range 6 {
		add := func() error { return run(db, addOne, "a") }
		if i%2 == 0 {
			add = func() error {
				return db.Write(bg, func(tx *database.Tx) error { return tx.Defer(bg, addOne, "a") })
			}
		}
		ok(t, add()) // twice, because the pool pings a connection that was idle for a second
		ok(t, add())
		for left := 1; left > 0; {
			ok(t, other.QueryRow(bg, `
				SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`).Scan(&left))
		}
		<-closed // the relay has closed the connection
		ok(t, add())
	}
	if n := counter(t, other, "a"); n != 18 {
		t.Errorf("n = %d, want 18", n)
	}
}

// A failed deferred statement rolls the transaction back and returns its error.
func TestDeferFails(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		missed := func(row database.Scanner) error { var n, ends int64; return row.Scan(&n, &ends) }
		wrong := func(row database.Scanner) error { var n, ends time.Time; return row.Scan(&n, &ends) }
		for name, tt := range map[string]struct {
			last func(tx *database.Tx) error
			want error
		}{
			"a duplicate":          {func(tx *database.Tx) error { return tx.Defer(bg, addLimit, "c", 1, 1) }, nil},
			"no row":               {func(tx *database.Tx) error { return tx.DeferRow(bg, missed, readLimit, "missing") }, sql.ErrNoRows},
			"a scan error of rows": {func(tx *database.Tx) error { return tx.DeferRows(bg, wrong, readLimit, "c") }, nil},
			"a scan error":         {func(tx *database.Tx) error { return tx.DeferRow(bg, wrong, readLimit, "c") }, nil},
		} {
			var later error
			err := db.Write(bg, func(tx *database.Tx) error {
				ok(t, tx.Defer(bg, addLimit, "c", 1, 1))
				if later = tt.last(tx); later != nil {
					return later
				}
				return tx.DeferOne(bg, growLimit, "c")
			})
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("%s: err = %v", name, err)
			}
			if name == "a duplicate" && !database.IsUnique(err) {
				t.Errorf("%s: err = %v", name, err)
			}
			if n := count(t, db, `SELECT count(*) FROM limits`); n != 0 {
				t.Errorf("%s: %d rows were committed, want 0", name, n)
			}
		}
		ok(t, db.Write(bg, func(tx *database.Tx) error { return tx.Defer(bg, addLimit, "c", 1, 1) }))
	})
}

func count(t *testing.T, db *database.DB, query string) (n int) {
	t.Helper()
	ok(t, db.QueryRow(bg, query).Scan(&n))
	return n
}
