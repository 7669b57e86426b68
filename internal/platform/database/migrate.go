package database

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
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
	// tableLockRetry is the first pause before a migration waits for the lock of a table again. It doubles
	// up to maxTableLockRetry.
	tableLockRetry    = 250 * time.Millisecond
	maxTableLockRetry = 8 * time.Second
	// maxDuplicates is how often a migration runs again because a table that it creates was there: another process may create the
	// table of versions at the same time. The pauses are 8 s together.
	maxDuplicates = 6
	// migrateLockPoll is the pause between two attempts to get the lock of all processes that migrate.
	migrateLockPoll = 250 * time.Millisecond
)

var (
	// ErrNotMigrated says that migrations are missing.
	ErrNotMigrated = errors.New("database: the database is not migrated")
	// ErrOlderBuild says that the database has migrations from before the first of this program.
	ErrOlderBuild = errors.New("a build before the first release made this database, and no release can use it: start with an empty database")
	// ErrTableInTheWay says that a table that a migration creates was there before the first migration.
	ErrTableInTheWay = errors.New("this database has tables of another program: use an empty database, or another schema")
	// ErrMayNotMigrate says that migrations are missing and that the user of the database may not apply them.
	ErrMayNotMigrate = errors.New("this database is of an older release, and its user may not change tables: run touchline migrate with a user that may")
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
	if IsNoSuchTable(err) {
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
// other transactions lock a table that a migration changes: see migrationParams. Errors: ErrMayNotMigrate.
func (db *DB) Migrate(ctx context.Context) error {
	return db.MigrateObserved(ctx, func(MigrationEvent) {})
}

// MigrateObserved is Migrate. It calls observe when a migration begins, waits or ends.
func (db *DB) MigrateObserved(ctx context.Context, observe func(MigrationEvent)) error {
	duplicates := 0
	for attempt := 1; ; attempt++ {
		err := db.Migrated(ctx)
		if !errors.Is(err, ErrNotMigrated) {
			return err
		}
		if err := db.checkTables(ctx); err != nil {
			return err
		}
		current := ""
		err = db.migrate(ctx, func(e MigrationEvent) {
			current = e.Migration
			observe(e)
		})
		if err == nil {
			continue
		}
		if isForbidden(err) {
			return fmt.Errorf("%w: %s: %w", ErrMayNotMigrate, current, err)
		}
		// Two processes may migrate one SQLite file: one of them fails, because the
		// migration is applied or the file is locked. On PostgreSQL the advisory lock
		// prevents that.
		pause := time.Duration(attempt) * time.Millisecond
		again := attempt < maxMigrateAttempts
		if db.engine == postgres {
			pause, again = min(tableLockRetry<<min(attempt-1, 10), maxTableLockRetry), mayRetry(err) || errors.Is(err, errApplied)
			if isDuplicateTable(err) {
				duplicates++
				again = duplicates < maxDuplicates
			}
			if mayRetry(err) && current != "" {
				observe(MigrationEvent{Migration: current, State: MigrationWaitsTable})
			}
		}
		if !again || ctx.Err() != nil {
			return fmt.Errorf("migrate the database: %s: %w", cmp.Or(current, versionTable), classify(err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// createsTable finds the tables that a migration creates.
var createsTable = regexp.MustCompile(`(?m)^CREATE TABLE (?:IF NOT EXISTS )?([a-z_]+)`)

// checkTables returns ErrTableInTheWay if no migration has begun, and a table that one creates exists. One statement reads all names,
// because another process may migrate at the same time.
func (db *DB) checkTables(ctx context.Context) error {
	query := `SELECT name FROM sqlite_master`
	if db.engine == postgres {
		query = `SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema()`
	}
	rs, err := db.Query(ctx, query)
	names, err := Collect(rs, err, func(s Scanner) (name string, err error) { return name, s.Scan(&name) })
	if err != nil {
		return fmt.Errorf("list the tables of the database: %w", err)
	}
	if slices.Contains(names, versionTable) {
		return nil
	}
	all, err := db.load()
	if err != nil {
		return err
	}
	for _, m := range all {
		for _, match := range createsTable.FindAllStringSubmatch(m.text, -1) {
			if slices.Contains(names, match[1]) {
				return fmt.Errorf("%w: %s has to create the table %s, which exists", ErrTableInTheWay, m.Name, match[1])
			}
		}
	}
	return nil
}

func (db *DB) migrate(ctx context.Context, observe func(MigrationEvent)) (err error) {
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
		o = append(o, goose.WithSessionLocker(advisory{observe}))
		table, err = versions.NewStore(versions.DialectPostgres, versionTable)
	} else {
		table, err = versions.NewStore(versions.DialectSQLite3, versionTable)
	}
	if err != nil {
		return err
	}
	all, err := db.load()
	if err != nil {
		return err
	}
	o = append(o, goose.WithStore(once{table}))
	migrations := make([]*goose.Migration, len(all))
	names := map[int64]string{}
	for i, m := range all {
		var after func(context.Context, *sql.Tx) error
		if i == 0 {
			after = db.first
		}
		migrations[i], names[m.Version] = m.goose(db.engine, observe, after), m.Name
	}
	p, err := goose.NewProvider(goose.DialectCustom, pool, nil, append(o, goose.WithGoMigrations(migrations...))...)
	if err != nil {
		return err
	}
	applied, err := p.Up(ctx)
	if failed, ok := errors.AsType[*goose.PartialError](err); ok {
		applied = failed.Applied
	}
	for _, r := range applied {
		observe(MigrationEvent{Migration: names[r.Source.Version], State: MigrationApplied, Took: r.Duration})
	}
	return err
}

// lockVersions lets one process at a time apply a migration in a transaction on PostgreSQL, also on a server without
// advisory locks. The lock is the first row of the table of versions, and ends with the transaction.
// It returns errApplied if another process applied the migration meanwhile.
func lockVersions(ctx context.Context, tx *sql.Tx, version int64) error {
	var applied bool
	if err := tx.QueryRowContext(ctx, `SELECT is_applied FROM `+versionTable+` WHERE version_id = 0 FOR UPDATE`).Scan(&applied); err != nil {
		return fmt.Errorf("lock the versions: %w", err)
	}
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+versionTable+` WHERE version_id = $1 AND is_applied)`, version).Scan(&applied)
	if err == nil && applied {
		return errApplied
	}
	return err
}

// versions returns the versions of the first and the newest migration of this program.
func (db *DB) versions() (first, latest int64, err error) {
	names, err := fs.Glob(db.migrations, "*.sql")
	if err != nil || len(names) == 0 {
		return 0, 0, err
	}
	all := make([]int64, len(names))
	for i, name := range names {
		all[i], err = goose.NumericComponent(name)
		if err != nil {
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

// advisory is an advisory lock of PostgreSQL. A process that waits for it polls: a statement that waits in the database holds a
// snapshot, for which CREATE INDEX CONCURRENTLY of the process with the lock would wait in turn. A server may have no
// advisory locks, or refuse them: then lockVersions locks.
type advisory struct{ observe func(MigrationEvent) }

// SessionLock waits for the lock, however long the migrations of another replica take.
func (a advisory) SessionLock(ctx context.Context, conn *sql.Conn) error {
	for waits := false; ; waits = true {
		var locked bool
		if err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, int64(migrateLock)).Scan(&locked); isNotAvailable(err) {
			return nil
		} else if err != nil || locked {
			return err
		}
		if !waits {
			a.observe(MigrationEvent{State: MigrationWaitsOthers})
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(migrateLockPoll):
		}
	}
}

// SessionUnlock releases the lock.
func (advisory) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, int64(migrateLock))
	if isNotAvailable(err) {
		return nil
	}
	return err
}

// NewestMigration returns the version of the newest migration of a folder.
func NewestMigration(migrations fs.FS) (int64, error) {
	_, newest, err := (&DB{migrations: migrations}).versions()
	return newest, err
}

// MigrationsUpTo returns the migrations of a folder that are not newer than version.
func MigrationsUpTo(migrations fs.FS, version int64) fs.FS {
	return olderMigrations{migrations, version}
}

type olderMigrations struct {
	fs.FS
	version int64
}

// ReadDir implements fs.ReadDirFS.
func (o olderMigrations) ReadDir(name string) (entries []fs.DirEntry, err error) {
	all, err := fs.ReadDir(o.FS, name)
	for _, e := range all {
		if v, err := goose.NumericComponent(e.Name()); err == nil && v <= o.version {
			entries = append(entries, e)
		}
	}
	return entries, err
}
