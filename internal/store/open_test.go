package store_test

import (
	"context"
	"testing"

	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/storetest"
)

var bg = context.Background()

func ok(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func run(db *store.DB, q string, args ...any) error {
	_, err := db.Exec(bg, q, args...)
	return err
}

// openReplica opens a database once more, as another replica does.
func openReplica(tb testing.TB, url string) *store.DB {
	tb.Helper()
	db, err := store.Open(bg, url, store.Options{MaxConns: 2})
	ok(tb, err)
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

func TestNewIDRises(t *testing.T) {
	db, err := store.Open(bg, storetest.SQLite(t), store.Options{})
	ok(t, err)
	defer db.Close()
	last := ""
	for range 10_000 {
		id := db.NewID()
		if id <= last {
			t.Fatalf("%s after %s", id, last)
		}
		last = id
	}
}
