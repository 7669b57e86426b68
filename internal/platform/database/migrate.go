package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	versions "github.com/pressly/goose/v3/database"
)

const (
	// versionTable is goose's table of applied migrations.
	versionTable = goose.DefaultTablename
	// migrateLock is the advisory lock of replicas that migrate concurrently.
	migrateLock = 7306642134
	// maxMigrateAttempts is how often a process tries to migrate a SQLite file that other
	// processes migrate at the same time.
	maxMigrateAttempts = 20
	// tableLockRetry is the pause before a migration waits for the lock of a table again.
	tableLockRetry = time.Second
)

var (
	// ErrNotMigrated says that migrations are missing.
	ErrNotMigrated = errors.New("database: the database is not migrated")
	// ErrOlderBuild says that the database has migrations from before the first of this program.
	ErrOlderBuild = errors.New("a build before the first release made this database, and no release can use it: start with an empty database")
)

// Migrated returns nil if every migration is applied, ErrNotMigrated if not, ErrOlderBuild,
// and fault.Unavailable if the database does not respond. It is one small read. The database
// may have newer migrations: the previous release runs with them during an upgrade.
func (db *DB) Migrated(ctx context.Context) error {
	first, latest, err := db.versions()
	if err != nil {
		return err
	}
	var oldest, applied sql.NullInt64
	err = db.QueryRow(ctx, `SELECT min(version_id), max(version_id) FROM `+versionTable+` WHERE is_applied = TRUE AND version_id > 0`).Scan(&oldest, &applied)
	if isNoSuchTable(err) {
		return ErrNotMigrated
	}
	if err != nil {
		return fmt.Errorf("read the version of the database: %w", err)
	}
	if oldest.Valid && oldest.Int64 < first {
		return ErrOlderBuild
	}
	if applied.Int64 < latest {
		return ErrNotMigrated
	}
	return nil
}

// Migrate applies the missing migrations, each in a transaction. Replicas may call it
// concurrently: each migration is applied once, and all calls return after the last. If
// none is missing, it is one small read. On PostgreSQL it tries again until ctx ends while
// other transactions lock a table that a migration changes: see migrationParams.
func (db *DB) Migrate(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		err := db.Migrated(ctx)
		if !errors.Is(err, ErrNotMigrated) {
			return err
		}
		if err = db.migrate(ctx); err == nil {
			continue
		}
		// Two processes may migrate one SQLite file: one of them fails, because the
		// migration is applied or the file is locked. On PostgreSQL the advisory lock
		// prevents that.
		pause := time.Duration(attempt) * time.Millisecond
		again := attempt < maxMigrateAttempts
		if db.engine == postgres {
			pause, again = tableLockRetry, mayRetry(err)
		}
		if !again || ctx.Err() != nil {
			return fmt.Errorf("migrate the database: %w", classify(err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (db *DB) migrate(ctx context.Context) (err error) {
	pool, err := db.target.openMigrator()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	o := []goose.ProviderOption{
		goose.WithDisableGlobalRegistry(true),
		goose.WithLogger(goose.NopLogger()),
	}
	var table versions.Store
	if db.engine == postgres {
		o = append(o, goose.WithSessionLocker(advisory{}))
		table, err = versions.NewStore(versions.DialectPostgres, versionTable)
	} else {
		table, err = versions.NewStore(versions.DialectSQLite3, versionTable)
	}
	if err != nil {
		return err
	}
	o = append(o, goose.WithStore(once{table}))
	migrations, err := db.load()
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectCustom, pool, nil, append(o, goose.WithGoMigrations(migrations...))...)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// load returns the migrations. Each runs the part of its file before "-- +goose Down" in
// one round trip. The SQL parser of goose needs one for each statement, and takes a buffer
// of 4 MiB for each line.
func (db *DB) load() ([]*goose.Migration, error) {
	names, err := fs.Glob(db.migrations, "*.sql")
	if err != nil {
		return nil, err
	}
	var migrations []*goose.Migration
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		text, err := fs.ReadFile(db.migrations, name)
		if err != nil {
			return nil, err
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		run := func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, up)
			return err
		}
		migrations = append(migrations, goose.NewGoMigration(version, &goose.GoFunc{RunTx: run}, nil))
	}
	return migrations, nil
}

// versions returns the versions of the first and the newest migration of this program.
func (db *DB) versions() (first, latest int64, err error) {
	names, err := fs.Glob(db.migrations, "*.sql")
	if err != nil || len(names) == 0 {
		return 0, 0, err
	}
	all := make([]int64, len(names))
	for i, name := range names {
		if all[i], err = goose.NumericComponent(name); err != nil {
			return 0, 0, err
		}
	}
	return slices.Min(all), slices.Max(all), nil
}

// once is the goose store, changed to refuse a version that exists. The insert is part of
// the migration's transaction. So if two processes apply the same migration to a SQLite
// file, the second rolls back.
type once struct{ versions.Store }

var errApplied = errors.New("database: another process applied this migration")

// Insert records a version.
func (o once) Insert(ctx context.Context, on versions.DBTxConn, req versions.InsertRequest) error {
	_, err := o.GetMigration(ctx, on, req.Version)
	if err == nil {
		return errApplied
	}
	if !errors.Is(err, versions.ErrVersionNotFound) {
		return err
	}
	return o.Store.Insert(ctx, on, req)
}

// advisory is an advisory lock of PostgreSQL. Waiting for it in the database wakes the next
// replica at once; the lock of goose polls every 5 s.
type advisory struct{}

// SessionLock waits for the lock, however long the migrations of another replica take.
func (advisory) SessionLock(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, `SET lock_timeout = 0`); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, int64(migrateLock)); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, `RESET lock_timeout`)
	return err
}

// SessionUnlock releases the lock.
func (advisory) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, int64(migrateLock))
	return err
}
