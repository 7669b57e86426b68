package database_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

// Replicas that start concurrently apply each migration once, also without advisory locks.
func TestConcurrentMigrate(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{
		"0001_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE counters (name TEXT PRIMARY KEY, n BIGINT NOT NULL);\nINSERT INTO counters (name, n) VALUES ('a', 0);\n")},
		"0002_two.sql": {Data: []byte("-- +goose Up\nUPDATE counters SET n = n + 1;\n")},
		"0003_two.sql": {Data: []byte("-- +goose Up\nUPDATE counters SET n = n + 1;\n")},
	}
	migrate := func(t *testing.T, url string) {
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
	}
	storetest.EachEmpty(t, migrate)
	t.Run("postgres without advisory locks", func(t *testing.T) { migrate(t, storetest.LimitedPostgres(t)) })
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

// TestOlderBuild: a database with a migration from before the first one of the program is refused,
// and not changed.
func TestOlderBuild(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		migrate := func(version string) error {
			db, err := database.Open(bg, url, database.Options{Migrations: fstest.MapFS{
				version + "_table.sql": {Data: []byte("-- +goose Up\nCREATE TABLE t" + version + " (name TEXT PRIMARY KEY);\n")},
			}})
			ok(t, err)
			defer db.Close()
			return db.Migrate(bg)
		}
		ok(t, migrate("0046"))
		for range 2 {
			if err := migrate("0101"); !errors.Is(err, database.ErrOlderBuild) {
				t.Errorf("err = %v, want an older build", err)
			}
		}
		ok(t, migrate("0046"))
	})
}

// TestTableInTheWay: a migration never waits for a table of another program to go away. It names the table.
func TestTableInTheWay(t *testing.T) {
	t.Parallel()
	migrations := fstest.MapFS{
		"0001_one.sql": {Data: []byte("-- +goose Up\nCREATE TABLE first (name TEXT PRIMARY KEY);\n")},
		"0002_two.sql": {Data: []byte("-- +goose Up\nCREATE TABLE accounts (name TEXT PRIMARY KEY);\n")},
	}
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		db, err := database.Open(bg, url, database.Options{Migrations: migrations})
		ok(t, err)
		defer db.Close()
		ok(t, run(db, `CREATE TABLE accounts (id INTEGER)`))
		err = db.Migrate(bg)
		if !errors.Is(err, database.ErrTableInTheWay) || !strings.Contains(err.Error(), "the table accounts") {
			t.Errorf("err = %v, want the table accounts in the way", err)
		}
		if run(db, `INSERT INTO first (name) VALUES ('a')`) == nil {
			t.Error("a migration was applied")
		}
	})
	t.Run("after the first migration", func(t *testing.T) {
		t.Parallel()
		storetest.EachEmpty(t, func(t *testing.T, url string) {
			db, err := database.Open(bg, url, database.Options{Migrations: database.MigrationsUpTo(migrations, 1)})
			ok(t, err)
			ok(t, db.Migrate(bg))
			ok(t, run(db, `CREATE TABLE accounts (id INTEGER)`))
			ok(t, db.Close())
			db, err = database.Open(bg, url, database.Options{Migrations: migrations})
			ok(t, err)
			defer db.Close()
			ctx, cancel := context.WithTimeout(bg, time.Minute)
			defer cancel()
			err = db.Migrate(ctx)
			if ctx.Err() != nil || err == nil || !strings.Contains(err.Error(), "0002_two.sql") || !strings.Contains(err.Error(), "accounts") {
				t.Errorf("err = %v, want the migration and the table", err)
			}
		})
	})
}

// TestResumedMigration: servers such as CockroachDB commit each CREATE by itself. What an interrupted migration left does not stop the next attempt.
func TestResumedMigration(t *testing.T) {
	t.Parallel()
	all := store.Migrations()
	names, err := fs.Glob(all, "*.sql")
	ok(t, err)
	whole, address := storetest.EmptyPostgres(t), storetest.EmptyPostgres(t)
	open := func(url string, migrations fs.FS) *database.DB {
		db, err := database.Open(bg, url, database.Options{Migrations: migrations})
		ok(t, err)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	ok(t, open(whole, all).Migrate(bg))
	first := fstest.MapFS{"0001_none.sql": {Data: []byte("-- +goose Up\nSELECT 1;\n")}}
	db := open(address, first)
	ok(t, db.Migrate(bg))
	ok(t, run(db, `DELETE FROM goose_db_version WHERE version_id = 1`))
	for _, name := range names {
		text, err := fs.ReadFile(all, name)
		ok(t, err)
		version, err := goose.NumericComponent(name)
		ok(t, err)
		_, up, _ := strings.Cut(string(text), "-- +goose Up")
		up, _, _ = strings.Cut(up, "-- +goose Down")
		statements := strings.SplitAfter(up, ";\n")
		for _, statement := range statements[:len(statements)/2] {
			if err := run(db, statement); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, statement)
			}
		}
		if err := open(address, database.MigrationsUpTo(all, version)).Migrate(bg); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := schema(t, db), schema(t, open(whole, all)); got != want {
		t.Errorf("the schemas differ:\n%s\nwant:\n%s", got, want)
	}
}

// schema returns the columns, indexes and rows that migrations make.
func schema(t *testing.T, db *database.DB) string {
	t.Helper()
	rs, err := db.Query(bg, `
		SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable AS line FROM information_schema.columns WHERE table_schema = 'public'
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
		UNION ALL SELECT 'rows ' || (SELECT count(*) FROM change_feed) || ' ' || (SELECT count(*) FROM consent_log) ORDER BY line`)
	lines, err := database.Collect(rs, err, func(s database.Scanner) (line string, err error) { return line, s.Scan(&line) })
	ok(t, err)
	return strings.Join(lines, "\n")
}

// TestIndexMigrationBehindReader: a migration that builds an index on a full table does not wait
// for a backup that reads the table. It would build the index again in each attempt, and keep the
// writes waiting each time.
func TestIndexMigrationBehindReader(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	openCounters(t, url)
	backup, err := pgx.Connect(bg, url)
	ok(t, err)
	defer backup.Close(bg)
	dump, err := backup.Begin(bg)
	ok(t, err)
	_, err = dump.Exec(bg, `LOCK TABLE counters IN ACCESS SHARE MODE`)
	ok(t, err)
	newer := maps.Clone(counters)
	newer["0002_index.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE INDEX counters_by_n ON counters (n);\n")}
	next, err := database.Open(bg, url, database.Options{Migrations: newer})
	ok(t, err)
	defer next.Close()
	ctx, cancel := context.WithTimeout(bg, 10*time.Second)
	defer cancel()
	ok(t, next.Migrate(ctx))
	ok(t, dump.Rollback(bg))
}

// TestMigrateBehindReader: a migration that waits for a table, because a backup reads it, does
// not keep the other replicas from it. A statement of a migration may take longer than the
// statement_timeout of the URL.
func TestMigrateBehindReader(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	replica := openCounters(t, url)
	backup, err := pgx.Connect(bg, url)
	ok(t, err)
	defer backup.Close(bg)
	dump, err := backup.Begin(bg)
	ok(t, err)
	_, err = dump.Exec(bg, `LOCK TABLE counters IN ACCESS SHARE MODE`)
	ok(t, err)

	newer := maps.Clone(counters)
	newer["0002_color.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nSELECT pg_sleep(0.2);\nALTER TABLE counters ADD COLUMN color TEXT;\n")}
	next, err := database.Open(bg, url+"&statement_timeout=100ms", database.Options{Migrations: newer})
	ok(t, err)
	defer next.Close()
	migrated := make(chan error, 1)
	go func() { migrated <- next.Migrate(bg) }()
	for waiting := false; !waiting; {
		ok(t, replica.QueryRow(bg, `
			SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'counters'::regclass AND NOT granted AND mode = 'AccessExclusiveLock')`).Scan(&waiting))
		select {
		case err := <-migrated:
			t.Fatalf("Migrate returned %v while the table was locked", err)
		default:
		}
	}
	ok(t, addOnce(replica))
	ok(t, dump.Rollback(bg))
	ok(t, <-migrated)
	ok(t, run(replica, `UPDATE counters SET color = 'red'`))
	if n := counter(t, replica, "a"); n != 1 {
		t.Errorf("n = %d, want 1", n)
	}
}

// TestMigrateUnderWrites: replicas migrate at the same time while others write. Each migration is applied once, also an
// index without a transaction whose first attempt left an invalid one, and no write fails.
func TestMigrateUnderWrites(t *testing.T) {
	t.Parallel()
	storetest.EachEmpty(t, func(t *testing.T, url string) {
		replica := openCounters(t, url)
		newer := maps.Clone(counters)
		newer["0002_column.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nALTER TABLE counters ADD COLUMN color TEXT;\n")}
		newer["0003_index.sql"] = &fstest.MapFile{Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\nDROP INDEX CONCURRENTLY IF EXISTS counters_by_n;\nCREATE INDEX CONCURRENTLY counters_by_n ON counters (n);\n")}
		newer["0004_table.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nCREATE TABLE colors (name TEXT PRIMARY KEY);\n")}

		stop := make(chan struct{})
		var writers, migrators sync.WaitGroup
		for range 4 {
			writers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if err := addOnce(replica); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		var mu sync.Mutex
		applied := map[string]int{}
		dbs := make([]*database.DB, 3)
		for i := range dbs {
			db, err := database.Open(bg, url, database.Options{Migrations: newer})
			ok(t, err)
			defer db.Close()
			dbs[i] = db
			pending, err := db.Pending(bg)
			ok(t, err)
			if len(pending) != 3 || pending[0].Name != "0002_column.sql" {
				t.Errorf("pending: %v", pending)
			}
		}
		for _, db := range dbs {
			migrators.Go(func() {
				err := db.MigrateObserved(bg, func(e database.MigrationEvent) {
					mu.Lock()
					defer mu.Unlock()
					if e.State == database.MigrationApplied {
						applied[e.Migration]++
					}
				})
				if err != nil {
					t.Error(err)
				}
				if pending, err := db.Pending(bg); err != nil || len(pending) != 0 {
					t.Errorf("pending: %v, %v", pending, err)
				}
			})
		}
		migrators.Wait()
		close(stop)
		writers.Wait()
		if want := map[string]int{"0002_column.sql": 1, "0003_index.sql": 1, "0004_table.sql": 1}; !maps.Equal(applied, want) {
			t.Errorf("applied %v, want %v", applied, want)
		}
		ok(t, run(replica, `INSERT INTO colors (name) SELECT color FROM counters WHERE color IS NOT NULL`))
		if newer, err := replica.Newer(bg); err != nil || newer != 4 {
			t.Errorf("the newest migration is %d, %v; want 4", newer, err)
		}
	})
}

func addOnce(db *database.DB) error {
	return db.Write(bg, func(tx *database.Tx) error { return addTo(tx, "a") })
}
