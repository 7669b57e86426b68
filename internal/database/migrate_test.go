package database_test

import (
	"errors"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/storetest"
)

// Replicas that start concurrently apply each migration once.
func TestConcurrentMigrate(t *testing.T) {
	fsys := fstest.MapFS{
		"0001_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE counters (name TEXT PRIMARY KEY, n BIGINT NOT NULL);\nINSERT INTO counters (name, n) VALUES ('a', 0);\n")},
		"0002_two.sql": {Data: []byte("-- +goose Up\nUPDATE counters SET n = n + 1;\n")},
		"0003_two.sql": {Data: []byte("-- +goose Up\nUPDATE counters SET n = n + 1;\n")},
	}
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		var all sync.WaitGroup
		dbs := make([]*database.DB, 4)
		for i := range dbs {
			db, err := database.Open(bg, url, database.Options{Migrations: fsys})
			ok(t, err)
			defer db.Close()
			if err := db.Migrated(bg); !errors.Is(err, database.ErrNotMigrated) {
				t.Fatalf("err = %v, want not migrated", err)
			}
			dbs[i] = db
		}
		for _, db := range dbs {
			all.Go(func() {
				if err := db.Migrate(bg); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, db := range dbs {
			ok(t, db.Migrated(bg))
			if n := counter(t, db, "a"); n != 2 {
				t.Errorf("n = %d, want 2", n)
			}
		}
	})
}

// A failed migration returns an error and is rolled back.
func TestMigrateFails(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		db, err := database.Open(bg, url, database.Options{Migrations: fstest.MapFS{
			"0001_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE counters (name TEXT PRIMARY KEY);\nINSERT INTO nowhere VALUES (1);\n")},
		}})
		ok(t, err)
		defer db.Close()
		if err := db.Migrate(bg); err == nil {
			t.Error("Migrate returned nil for a broken migration")
		}
		if err := db.Migrated(bg); !errors.Is(err, database.ErrNotMigrated) {
			t.Errorf("err = %v, want not migrated", err)
		}
		if err := run(db, `INSERT INTO counters (name) VALUES ('a')`); err == nil {
			t.Error("half of the migration was committed")
		}
	})
}
