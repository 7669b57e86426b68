package database_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store/storetest"
)

const (
	addCounter = `INSERT INTO counters (name, n) VALUES ($1, $2)`
	addOne     = `UPDATE counters SET n = n + 1 WHERE name = $1`
)

// Of concurrent statements each runs once, returns its own error and reads its own row.
func TestConcurrentExec(t *testing.T) {
	eachEngine(t, func(t *testing.T, db *database.DB) {
		const clients, rounds = 40, 20
		var refused atomic.Int64
		var all sync.WaitGroup
		for i := range clients {
			name := fmt.Sprint("counter ", i)
			ok(t, run(db, addCounter, name, 0))
			all.Go(func() {
				for j := range rounds {
					switch (i + j) % 5 {
					case 0:
						if err := run(db, addCounter, name, 0); database.IsUnique(err) {
							refused.Add(1)
						} else {
							t.Errorf("err = %v, want a duplicate", err)
						}
					case 1:
						if n, err := db.Exec(bg, addOne, "missing"); n != 0 || err != nil {
							t.Errorf("affected %d rows, %v; want 0", n, err)
						}
					default:
						var got string
						ok(t, db.ExecRow(bg, func(row database.Scanner) error { return row.Scan(&got) }, addOne+` RETURNING name`, name))
						if got != name {
							t.Errorf("read the row of %q, want %q", got, name)
						}
						ok(t, run(db, addOne, "a"))
					}
				}
			})
		}
		all.Wait()
		const each = clients * rounds / 5
		if n := counter(t, db, "a"); n != 3*each || refused.Load() != each {
			t.Errorf("n = %d, refused %d; want %d, %d", n, refused.Load(), 3*each, each)
		}
		for i := range clients {
			if n := counter(t, db, fmt.Sprint("counter ", i)); n != 3*rounds/5 {
				t.Errorf("counter %d is %d, want %d", i, n, 3*rounds/5)
			}
		}
	})
}

// Of concurrent guarded updates of one row, one succeeds.
func TestConcurrentGuardedExec(t *testing.T) {
	eachEngine(t, func(t *testing.T, db *database.DB) {
		for round := range 20 {
			var won atomic.Int64
			var all sync.WaitGroup
			for range 30 {
				all.Go(func() {
					n, err := db.Exec(bg, `UPDATE counters SET n = n + 1 WHERE name = $1 AND n = $2`, "a", round)
					ok(t, err)
					won.Add(n)
				})
			}
			all.Wait()
			if won.Load() != 1 {
				t.Fatalf("%d updates succeeded, want 1", won.Load())
			}
		}
	})
}

// Statements that wait for a row lock do not delay statements on other rows.
func TestPostgresExecDuringRowLock(t *testing.T) {
	db := openCounters(t, storetest.EmptyPostgres(t)+"&idle_in_transaction_session_timeout=30s")
	for i := range 9 {
		ok(t, run(db, addCounter, fmt.Sprint(i), 0))
	}
	held, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- db.Write(bg, func(tx *database.Tx) error {
			err := addTo(tx, "a")
			close(held)
			<-release
			return err
		})
	}()
	<-held
	var locked, others sync.WaitGroup
	for range 3 {
		locked.Go(func() { ok(t, run(db, addOne, "a")) })
		for i := range 9 {
			others.Go(func() {
				for range 5 {
					ok(t, run(db, addOne, fmt.Sprint(i)))
				}
			})
		}
		time.Sleep(5 * time.Millisecond) // the statements of a round wait behind the lock, mostly; the test holds for every order
	}
	free := make(chan struct{})
	go func() { others.Wait(); close(free) }()
	select {
	case <-free:
	case <-time.After(8 * time.Second): // the write that holds the lock ends after 10 s
		t.Error("statements on other rows waited for the lock")
	}
	close(release)
	ok(t, <-done)
	locked.Wait()
	others.Wait()
	if n := counter(t, db, "a"); n != 4 {
		t.Errorf("n = %d, want 4", n)
	}
}

// Exec returns although another transaction already uses its connection.
func TestPostgresExecReleasesConnection(t *testing.T) {
	t.Parallel()
	address := storetest.EmptyPostgres(t)
	other := openCounters(t, address)
	// After a lock timeout Exec would retry, which needs the connection that Write holds.
	db, err := database.Open(bg, address+"&lock_timeout=1min", database.Options{Migrations: counters, MaxConns: 1})
	ok(t, err)
	defer db.Close()
	for range 30 {
		done, release := make(chan error, 1), make(chan struct{})
		var next sync.WaitGroup
		ok(t, other.Write(bg, func(tx *database.Tx) error {
			if err := addTo(tx, "a"); err != nil {
				return err
			}
			go func() { done <- run(db, addOne, "a") }() // takes the connection
			for waiting := false; !waiting; time.Sleep(time.Millisecond) {
				ok(t, other.QueryRow(bg, `
					SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waiting))
			}
			next.Go(func() {
				ok(t, db.Write(bg, func(tx *database.Tx) error { <-release; return nil }))
			})
			time.Sleep(2 * time.Millisecond) // the next transaction asks for a connection, mostly; the test holds for both orders
			return nil
		}))
		select {
		case err := <-done:
			ok(t, err)
		case <-time.After(8 * time.Second):
			t.Error("Exec waited for the next transaction on its connection")
		}
		close(release)
		next.Wait()
		if t.Failed() {
			return
		}
	}
}

// While connections are killed, every successful Exec is committed once. A failed one may
// be committed.
func TestPostgresExecWhileConnectionsDie(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	db, other := openCounters(t, url), openReplica(t, url)
	var done, failed atomic.Int64
	stop, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			for stop.Err() == nil {
				if err := run(db, addOne, "a"); err == nil {
					done.Add(1)
				} else {
					failed.Add(1)
				}
			}
		})
	}
	for range 20 {
		for before := done.Load(); done.Load() < before+24 && stop.Err() == nil; {
			time.Sleep(time.Millisecond)
		}
		rs, err := other.Query(bg, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		ok(t, err)
		for rs.Next() {
		}
		ok(t, rs.Err())
	}
	cancel()
	all.Wait()
	n := int64(counter(t, db, "a"))
	if done.Load() == 0 || n < done.Load() || n > done.Load()+failed.Load() {
		t.Errorf("n = %d after %d successes and %d errors", n, done.Load(), failed.Load())
	}
	ok(t, run(db, addOne, "a"))
}

// An invalid argument or a scan error fails its own statement and no concurrent one.
func TestExecErrorsAreSeparate(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		const rounds = 20
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range rounds {
					if err := run(db, addOne, struct{}{}); err == nil {
						t.Error("an argument of type struct was accepted")
					}
					var wrong time.Time
					read := func(row database.Scanner) error { return row.Scan(&wrong) }
					if err := db.ExecRow(bg, read, `UPDATE counters SET n = n WHERE name = $1 RETURNING name`, "a"); err == nil {
						t.Error("a text was scanned into a time")
					}
				}
			})
			all.Go(func() {
				for range rounds {
					ok(t, run(db, addOne, "a"))
				}
			})
		}
		all.Wait()
		if n := counter(t, db, "a"); n != 8*rounds {
			t.Errorf("n = %d, want %d", n, 8*rounds)
		}
	})
}

func TestExecWithoutArguments(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				for range 10 {
					ok(t, run(db, `UPDATE counters SET n = n + 1`))
				}
			})
		}
		all.Wait()
		if n := counter(t, db, "a"); n != 200 {
			t.Errorf("n = %d, want 200", n)
		}
	})
}

// A cancelled context refuses a statement.
func TestExecAfterCancel(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *database.DB) {
		request, cancel := context.WithCancel(bg)
		cancel()
		if _, err := db.Exec(request, addOne, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v, want canceled", err)
		}
		if n := counter(t, db, "a"); n != 0 {
			t.Errorf("n = %d, want 0", n)
		}
	})
}
