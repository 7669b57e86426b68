package store_test

import (
	"context"
	"testing"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
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

// openDatabase opens the database at url with the migrations of the store.
func openDatabase(tb testing.TB, url string, o database.Options) *database.DB {
	tb.Helper()
	o.Migrations = store.Migrations()
	db, err := database.Open(bg, url, o)
	ok(tb, err)
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

func TestNewIDRises(t *testing.T) {
	t.Parallel()
	db := store.New(openDatabase(t, storetest.SQLite(t), database.Options{}), store.Options{})
	last := ""
	for range 10_000 {
		id := db.NewID()
		if id <= last {
			t.Fatalf("%s after %s", id, last)
		}
		last = id
	}
}
