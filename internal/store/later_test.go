package store_test

import (
	"database/sql"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/storetest"
)

const (
	addLimit  = `INSERT INTO limits (key, occurrences, ends_at) VALUES ($1, $2, $3)`
	growLimit = `UPDATE limits SET occurrences = occurrences + 1 WHERE key = $1`
	readLimit = `UPDATE limits SET occurrences = occurrences + 1 WHERE key = $1 RETURNING occurrences, ends_at`
)

// What is put off runs in its order, before what follows it and before the commit.
func TestLater(t *testing.T) {
	onPitch(t, func(p *pitch) {
		var n, ends, seen int64
		ok(p, p.db.Write(bg, func(tx *store.Tx) error {
			ok(p, tx.Later(bg, false, nil, addLimit, "a", 1, 7))
			ok(p, tx.Later(bg, true, nil, growLimit, "a"))
			ok(p, tx.QueryRow(bg, `SELECT occurrences FROM limits WHERE key = $1`, "a").Scan(&seen))
			ok(p, tx.Later(bg, true, nil, growLimit, "a"))
			return tx.Later(bg, false, func(row store.Scanner) error { return row.Scan(&n, &ends) }, readLimit, "a")
		}))
		if seen != 2 || n != 4 || ends != 7 {
			p.Errorf("seen %d, then %d until %d", seen, n, ends)
		}
	})
}

// A guard that meets no row has the transaction tried again, whatever came with it.
func TestLaterStale(t *testing.T) {
	onPitch(t, func(p *pitch) {
		tries := 0
		ok(p, p.db.Write(bg, func(tx *store.Tx) error {
			tries++
			if err := tx.Later(bg, false, nil, addLimit, "b", 1, 1); err != nil {
				return err
			}
			key := "b"
			if tries == 1 {
				key = "nobody"
			}
			if err := tx.Later(bg, true, nil, growLimit, key); err != nil {
				return err
			}
			return tx.Later(bg, true, nil, growLimit, "b")
		}))
		if n := p.count(`SELECT occurrences FROM limits WHERE key = 'b'`); tries != 2 || n != 3 {
			p.Errorf("%d after %d tries", n, tries)
		}
	})
}

// It is tried again as well where the function takes the failure for one of the
// statement that follows, and makes something else of it.
func TestLaterStaleMistaken(t *testing.T) {
	onPitch(t, func(p *pitch) {
		ended := errors.New("it has ended")
		tries := 0
		ok(p, run(p.db, addLimit, "d", 0, 1))
		ok(p, p.db.Write(bg, func(tx *store.Tx) error {
			tries++
			key := "d"
			if tries == 1 {
				key = "nobody"
			}
			if err := tx.Later(bg, true, nil, growLimit, key); err != nil {
				return err
			}
			err := tx.ExecOne(bg, growLimit, "d")
			if errors.Is(err, store.ErrStale) {
				return ended
			}
			return err
		}))
		if n := p.count(`SELECT occurrences FROM limits WHERE key = 'd'`); tries != 2 || n != 2 {
			p.Errorf("%d after %d tries", n, tries)
		}
	})
}

// Where the first that is sent is the whole transaction, and the connection has gone
// before, nothing was sent: it is tried on another one.
func TestPostgresLaterOverADeadConnection(t *testing.T) {
	address := storetest.Postgres(t)
	other := openCounters(t, address)
	db, err := store.Open(bg, relay(t, address, func(client, server net.Conn) {
		go pass(server, client, func() {})
		go pass(client, server, func() {})
	}), store.Options{Migrations: counters, MaxConns: 1})
	ok(t, err)
	defer db.Close()
	for i := range 6 {
		add := func() error { return run(db, addOne, "a") }
		if i%2 == 0 {
			add = func() error {
				return db.Write(bg, func(tx *store.Tx) error { return tx.Later(bg, false, nil, addOne, "a") })
			}
		}
		ok(t, add()) // twice on a connection, so that it is not asked again whether it lives
		ok(t, add())
		var gone int
		ok(t, other.QueryRow(bg, `
			SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`).Scan(&gone))
		time.Sleep(100 * time.Millisecond)
		ok(t, add())
	}
	if n := counter(t, other, "a"); n != 18 {
		t.Errorf("n = %d, want 18", n)
	}
}

// A failure, and a row that is missed, undo everything and are told.
func TestLaterFails(t *testing.T) {
	onPitch(t, func(p *pitch) {
		missed := func(row store.Scanner) error { var n, ends int64; return row.Scan(&n, &ends) }
		wrong := func(row store.Scanner) error { var n, ends time.Time; return row.Scan(&n, &ends) }
		for name, tt := range map[string]struct {
			last func(tx *store.Tx) error
			want error
		}{
			"a duplicate":        {func(tx *store.Tx) error { return tx.Later(bg, false, nil, addLimit, "c", 1, 1) }, nil},
			"no row":             {func(tx *store.Tx) error { return tx.Later(bg, false, missed, readLimit, "nobody") }, sql.ErrNoRows},
			"a row of other use": {func(tx *store.Tx) error { return tx.Later(bg, false, wrong, readLimit, "c") }, nil},
		} {
			var later error
			err := p.db.Write(bg, func(tx *store.Tx) error {
				ok(p, tx.Later(bg, false, nil, addLimit, "c", 1, 1))
				if later = tt.last(tx); later != nil {
					return later
				}
				return tx.Later(bg, true, nil, growLimit, "c")
			})
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				p.Errorf("%s: %v", name, err)
			}
			if name == "a duplicate" && !store.IsUnique(err) {
				p.Errorf("%s: %v", name, err)
			}
			if n := p.count(`SELECT count(*) FROM limits`); n != 0 {
				p.Errorf("%s: %d rows are kept", name, n)
			}
		}
		ok(p, p.db.Write(bg, func(tx *store.Tx) error { return tx.Later(bg, false, nil, addLimit, "c", 1, 1) }))
	})
}
