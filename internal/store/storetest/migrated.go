package storetest

import (
	"context"
	"database/sql"
	"errors"
	"hash/crc32"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// Each runs test as parallel subtests "sqlite" and "postgres", each with the URL of a database
// that has the store's tables and no rows. A subtest gets its database when it runs: otherwise
// the databases of all tests exist at the same time.
func Each(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for name, create := range map[string]func(testing.TB) string{"sqlite": SQLite, "postgres": Postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, create(t))
		})
	}
}

// Complete reports whether TOUCHLINE_TEST_COMPLETE=on asks for what CI runs in addition: both engines where a test needs only one,
// and both looks of each page.
func Complete() bool { return os.Getenv(completeEnv) == "on" }

// Either runs test as a subtest "sqlite" or "postgres", as the hash of the test's name says, and on SQLite without PostgreSQL. If the
// run is Complete, it is Each. It is for a test of what a caller sees, whose statements the tests of package store run on both.
func Either(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	if Complete() {
		Each(t, test)
		return
	}
	name, create := "sqlite", SQLite
	if hash := crc32.ChecksumIEEE([]byte(t.Name())); hash%2 == 1 {
		if _, err := sharedServer(); err == nil {
			name, create = "postgres", Postgres
		}
	}
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		test(t, create(t))
	})
}

// SQLite returns the URL of a database with the store's tables in a temporary folder.
func SQLite(tb testing.TB) string {
	tb.Helper()
	file, err := sqliteTemplate()
	if err != nil {
		tb.Fatalf("migrate a database to copy: %v", err)
	}
	address := EmptySQLite(tb)
	if err := os.WriteFile(strings.TrimPrefix(address, "sqlite:"), file, 0o600); err != nil {
		tb.Fatal(err)
	}
	return address
}

// Postgres returns the URL of a database with the store's tables, on the server of
// EmptyPostgres.
func Postgres(tb testing.TB) string {
	tb.Helper()
	server := server(tb)
	// On a server that outlives this process a template would stay behind.
	if os.Getenv(serverEnv) != "" {
		address := EmptyPostgres(tb)
		if err := migrate(address); err != nil {
			tb.Fatal(err)
		}
		return address
	}
	template, err := postgresTemplate()
	if err != nil {
		tb.Fatalf("migrate a database to copy: %v", err)
	}
	// Without fsync a copy of the files takes 22 ms; a copy through the log takes 220 ms.
	return createFor(tb, server, template+" STRATEGY file_copy")
}

// sqliteTemplate returns the bytes of a migrated database, made once for this process.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "touchline-template")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "touchline.db")
	if err := migrate("sqlite:" + file); err != nil {
		return nil, err
	}
	if err := checkpoint(file); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
})

// checkpoint moves everything from the log of a SQLite database into its file.
func checkpoint(file string) error {
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		return err
	}
	_, err = db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	return errors.Join(err, db.Close())
}

// postgresTemplate returns the name of a migrated database, made once for this process.
var postgresTemplate = sync.OnceValues(func() (string, error) {
	server, err := sharedServer()
	if err != nil {
		return "", err
	}
	address, _, err := Create(server)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	return path.Base(u.Path), migrate(address)
})

// migrate applies the store's migrations and closes all connections.
func migrate(address string) error {
	ctx := context.Background()
	db, err := database.Open(ctx, address, database.Options{Migrations: store.Migrations()})
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx); err != nil {
		db.Close()
		return err
	}
	return db.Close()
}
