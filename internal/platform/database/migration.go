package database

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// noTransaction marks a file that PostgreSQL runs without a transaction: its indexes are created
// CONCURRENTLY, so that writes go on.
const noTransaction = "-- +goose NO TRANSACTION"

// Migration is a file of Options.Migrations.
type Migration struct {
	Version int64
	// Name is the name of the file.
	Name string

	text string // before "-- +goose Down"
}

// MigrationEvent says what Migrate does now.
type MigrationEvent struct {
	// Migration is the file that runs, waits or was applied, "" if another process migrates.
	Migration string
	State     MigrationState
	// Took is set if State is MigrationApplied.
	Took time.Duration
}

// MigrationState is what happens to a migration.
type MigrationState string

// The states.
const (
	MigrationRuns        MigrationState = "runs"
	MigrationApplied     MigrationState = "was applied"
	MigrationWaitsTable  MigrationState = "waits for the lock of a table"
	MigrationWaitsOthers MigrationState = "waits for another process that migrates"
)

// Pending returns the migrations that Migrate would apply, in their order. Errors: ErrOlderBuild.
func (db *DB) Pending(ctx context.Context) ([]Migration, error) {
	all, err := db.load()
	if err != nil {
		return nil, err
	}
	if err := db.Migrated(ctx); !errors.Is(err, ErrNotMigrated) {
		return nil, err
	}
	applied := map[int64]bool{}
	rs, err := db.Query(ctx, `SELECT version_id FROM `+versionTable+` WHERE is_applied = TRUE`)
	if IsNoSuchTable(err) {
		return all, nil
	}
	versions, err := Collect(rs, err, func(s Scanner) (v int64, err error) { return v, s.Scan(&v) })
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		applied[v] = true
	}
	var pending []Migration
	for _, m := range all {
		if !applied[m.Version] {
			pending = append(pending, m)
		}
	}
	return pending, nil
}

// Newer returns the version of the newest migration of the database if this program does not have it, else 0.
func (db *DB) Newer(ctx context.Context) (int64, error) {
	_, latest, err := db.versions()
	if err != nil {
		return 0, err
	}
	var applied sql.NullInt64
	err = db.QueryRow(ctx, `SELECT max(version_id) FROM `+versionTable+` WHERE is_applied = TRUE`).Scan(&applied)
	if err != nil || applied.Int64 <= latest {
		return 0, err
	}
	return applied.Int64, nil
}

// load returns all migrations in the order of their versions.
func (db *DB) load() ([]Migration, error) {
	names, err := fs.Glob(db.migrations, "*.sql")
	if err != nil {
		return nil, err
	}
	var all []Migration
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
		all = append(all, Migration{version, name, up})
	}
	return all, nil
}

// goose returns m for goose, which reports its begin and end. It runs the part of the file before "-- +goose Down" in
// one round trip. The SQL parser of goose needs one for each statement, and takes a buffer of 4 MiB for each line. It calls after, which may
// be nil, in the transaction of the migration.
func (m Migration) goose(e engine, observe func(MigrationEvent), after func(context.Context, *sql.Tx) error) *goose.Migration {
	began := func() { observe(MigrationEvent{Migration: m.Name, State: MigrationRuns}) }
	if e == postgres && strings.Contains(m.text, noTransaction) {
		return goose.NewGoMigration(m.Version, &goose.GoFunc{RunDB: func(ctx context.Context, pool *sql.DB) error {
			began()
			return m.runAlone(ctx, pool)
		}}, nil)
	}
	text := m.text
	if e == sqlite {
		text = strings.ReplaceAll(text, " CONCURRENTLY", "")
	}
	return goose.NewGoMigration(m.Version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		began()
		if e == postgres {
			if err := lockVersions(ctx, tx, m.Version); err != nil {
				return err
			}
			var err error
			text, err = m.resumed(ctx, tx)
			if err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, text)
		if err == nil && after != nil {
			err = after(ctx, tx)
		}
		return err
	}}, nil)
}

// runAlone runs each statement without a transaction. They may wait: CREATE INDEX CONCURRENTLY waits for transactions that
// began before it, and holds a lock that no read and no write waits for.
func (m Migration) runAlone(ctx context.Context, pool *sql.DB) (err error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for statement := range strings.SplitSeq("SET lock_timeout = 0;\n"+m.text+";\nRESET lock_timeout", ";\n") {
		if strings.TrimSpace(withoutComments(statement)) == "" {
			continue
		}
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// withoutComments removes the lines that are comments.
func withoutComments(statement string) string {
	var b strings.Builder
	for line := range strings.Lines(statement) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			b.WriteString(line)
		}
	}
	return b.String()
}
