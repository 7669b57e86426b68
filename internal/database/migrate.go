package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
	versions "github.com/pressly/goose/v3/database"
)

const (
	// versionTable is where goose writes what it has applied.
	versionTable = goose.DefaultTablename
	// migrateLock is the advisory lock that racing replicas queue at.
	migrateLock = 7306642134
	// migrateTries is how often a SQLite process that was overtaken looks again.
	migrateTries = 20
)

// ErrNotMigrated says that the database lacks migrations that this program knows.
var ErrNotMigrated = errors.New("database: the database is not migrated")

// Migrated answers nil if every migration is applied, ErrNotMigrated if not, and
// fault.Unavailable if the database is away. It is one small read. A database
// that is ahead of the program is fine: migrations run under the release before.
func (db *DB) Migrated(ctx context.Context) error {
	latest, err := db.latest()
	if err != nil {
		return err
	}
	var applied sql.NullInt64
	err = db.QueryRow(ctx, `SELECT max(version_id) FROM `+versionTable+` WHERE is_applied = TRUE`).Scan(&applied)
	if noSuchTable(err) {
		return ErrNotMigrated
	}
	if err != nil {
		return fmt.Errorf("read the version of the database: %w", err)
	}
	if applied.Int64 < latest {
		return ErrNotMigrated
	}
	return nil
}

// Migrate applies the migrations that are missing, each in a transaction. Any
// number of replicas may call it at once: each migration is applied once, and all
// return when it is done. Where nothing is missing it costs one small read.
func (db *DB) Migrate(ctx context.Context) error {
	for try := 1; ; try++ {
		err := db.Migrated(ctx)
		if !errors.Is(err, ErrNotMigrated) {
			return err
		}
		if err = db.migrate(ctx); err == nil {
			continue
		}
		// On SQLite the loser of a race finds its migration applied, or the file
		// locked; on PostgreSQL the lock has seen to it that there is none.
		if db.engine == postgres || try == migrateTries || ctx.Err() != nil {
			return fmt.Errorf("migrate the database: %w", classify(err))
		}
		time.Sleep(time.Duration(try) * time.Millisecond)
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
	p, err := goose.NewProvider(goose.DialectCustom, pool, db.migrations, o...)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// latest is the version of the newest migration that this program knows.
func (db *DB) latest() (int64, error) {
	names, err := fs.Glob(db.migrations, "*.sql")
	if err != nil {
		return 0, err
	}
	var latest int64
	for _, name := range names {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return 0, err
		}
		latest = max(latest, version)
	}
	return latest, nil
}

// once is goose's own bookkeeping, made to refuse a version that is there. The
// insert is part of the migration's transaction, so whoever lost a race on SQLite
// undoes the second application.
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

// advisory is a PostgreSQL lock held by the migrating session. Waiting in the
// database wakes the next replica at once, where goose's own asks every 5 s.
type advisory struct{}

// SessionLock waits for the lock.
func (advisory) SessionLock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, int64(migrateLock))
	return err
}

// SessionUnlock gives the lock back.
func (advisory) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, int64(migrateLock))
	return err
}
