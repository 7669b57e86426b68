package store_test

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/storetest"
)

// TestIndexMigrationBehindReader: a migration that builds an index on a full table does not wait
// for a backup that reads the table. It would build the index again in each attempt, and keep the
// writes waiting each time.
func TestIndexMigrationBehindReader(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	migrateTo(t, url, "0027_request_identity.sql")
	backup, err := pgx.Connect(bg, url)
	ok(t, err)
	defer backup.Close(bg)
	dump, err := backup.Begin(bg)
	ok(t, err)
	_, err = dump.Exec(bg, `LOCK TABLE deliveries IN ACCESS SHARE MODE`)
	ok(t, err)
	migrateTo(t, url, "0028_failed_deliveries.sql")
	ok(t, dump.Rollback(bg))

	db := openDatabase(t, url, database.Options{})
	ok(t, db.Migrate(bg))
	var old int
	ok(t, db.QueryRow(bg, `SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'deliveries_unsent%'`).Scan(&old))
	if old != 0 {
		t.Errorf("%d of the replaced indexes remain", old)
	}
}

// migrateTo applies the migrations up to the one with a name.
func migrateTo(t *testing.T, url, last string) {
	t.Helper()
	names, err := fs.Glob(store.Migrations(), "*.sql")
	ok(t, err)
	some := fstest.MapFS{}
	for _, name := range names {
		if name <= last {
			text, err := fs.ReadFile(store.Migrations(), name)
			ok(t, err)
			some[name] = &fstest.MapFile{Data: text}
		}
	}
	db, err := database.Open(bg, url, database.Options{Migrations: some})
	ok(t, err)
	defer db.Close()
	ctx, cancel := context.WithTimeout(bg, 10*time.Second)
	defer cancel()
	if err := db.Migrate(ctx); err != nil {
		t.Fatalf("migrate to %s: %v", last, err)
	}
}
