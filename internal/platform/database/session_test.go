package database_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store/storetest"
)

func TestPostgresSessionParams(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	for _, tt := range []struct{ query, name, want string }{
		{"", "idle_in_transaction_session_timeout", "3s"},
		{"", "statement_timeout", "10s"},
		{"", "lock_timeout", "1s"},
		{"&statement_timeout=7s", "statement_timeout", "7s"},
		{"&statement_timeout=0", "statement_timeout", "0"},
		{"&statement_timeout=7s", "lock_timeout", "1s"},
		{"&options=-c%20lock_timeout%3D9s", "lock_timeout", "9s"},
	} {
		db, err := database.Open(bg, url+tt.query, database.Options{})
		ok(t, err)
		var got string
		ok(t, db.QueryRow(bg, `SELECT current_setting($1)`, tt.name).Scan(&got))
		if got != tt.want {
			t.Errorf("URL with %q: %s is %s, want %s", tt.query, tt.name, got, tt.want)
		}
		ok(t, db.Close())
	}
	// They have no effect on the Unix sockets of the tests.
	params := database.SessionParams(t, url)
	for _, name := range []string{"tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count", "tcp_user_timeout"} {
		if params[name] == "" {
			t.Errorf("%s is not set", name)
		}
	}
}

// A transaction that PostgreSQL ended because it was idle runs again.
func TestWriteRetriesIdleTransaction(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	openCounters(t, url) // on a busy machine the migration would be idle for as long
	db := openReplica(t, url+"&idle_in_transaction_session_timeout=100ms")
	attempts := 0
	ok(t, db.Write(bg, func(tx *database.Tx) error {
		ok(t, addTo(tx, "a"))
		if attempts++; attempts == 1 {
			time.Sleep(300 * time.Millisecond) // longer than the transaction may be idle
		}
		return nil
	}))
	if n := counter(t, db, "a"); n != 1 || attempts != 2 {
		t.Errorf("n = %d after %d attempts, want 1 after 2", n, attempts)
	}
}

// A transaction that waits for a lock for too long runs again, and fails as unavailable
// after the timeout.
func TestLockTimeout(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	db := openCounters(t, url+"&idle_in_transaction_session_timeout=0")
	other := openReplica(t, url+"&lock_timeout=100ms")
	written, attempts := make(chan error, 1), make(chan struct{}, 100)
	write := func() error {
		return other.Write(bg, func(tx *database.Tx) error {
			attempts <- struct{}{}
			return addTo(tx, "a")
		})
	}
	ok(t, db.Write(bg, func(tx *database.Tx) error {
		ok(t, addTo(tx, "a"))
		go func() { written <- write() }()
		for range 3 {
			<-attempts
		}
		return nil
	}))
	ok(t, <-written)
	if n := counter(t, db, "a"); n != 2 {
		t.Errorf("n = %d, want 2", n)
	}
	if _, was := other.SetRetries(100, 300*time.Millisecond); was != 8*time.Second {
		t.Errorf("a write runs again for %s by default, want 8s", was)
	}
	ok(t, db.Write(bg, func(tx *database.Tx) error {
		ok(t, addTo(tx, "a"))
		go func() { written <- write() }()
		err := <-written
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("write to a locked row: got %v, want unavailable", err)
		}
		return nil
	}))
}
