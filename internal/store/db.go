// Package store keeps everything the service knows, in SQLite or PostgreSQL.
// It holds all SQL and no rule: the domain packages hand it pure functions, and it runs
// them inside transactions. Each aggregate has its file. Package database knows the
// engines; the text of every statement is the same for both.
package store

import (
	"context"
	"embed"
	"io/fs"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/notify"
)

// DB is the database of the service, safe for concurrent use.
type DB struct {
	// Now is the clock. Every transaction reads it once.
	Now func() time.Time
	// NewID returns an identifier: a UUID version 7, rising within the process.
	NewID func() string
	// Settings are to be set before the first use.
	Settings Settings
	// OnQueued and OnNotified run after a commit that queued an SMS, or that wrote
	// to the trays of these accounts. They must not block; nil is nobody to tell.
	OnQueued   func(lane notify.Lane)
	OnNotified func(accountIDs []string)

	sql      *database.DB
	vault    *auth.Vault // see SetVault
	announce chan []string
}

// Options tune Open. The zero value is right for the service.
type Options struct {
	// MaxConns and ConnectTimeout are those of database.Options.
	MaxConns       int
	ConnectTimeout time.Duration
}

//go:embed migrations
var migrations embed.FS

// ErrNotMigrated is the error of Migrated if migrations are missing.
var ErrNotMigrated = database.ErrNotMigrated

// Open opens the database at url (see database.Open). It does not migrate.
func Open(ctx context.Context, url string, o Options) (*DB, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	db := &DB{
		Now:      time.Now,
		NewID:    func() string { return uuid.Must(uuid.NewV7()).String() },
		announce: make(chan []string, 256),
	}
	db.sql, err = database.Open(ctx, url, database.Options{
		Now:             func() time.Time { return db.Now() },
		Migrations:      files,
		MaxConns:        o.MaxConns,
		ConnectTimeout:  o.ConnectTimeout,
		ApplicationName: "touchline",
	})
	if err != nil {
		return nil, err
	}
	return db, nil
}

// tx is one transaction. Helpers that write are its methods.
type tx struct {
	*database.Tx
	db *DB
}

// write runs fn in one transaction (see database.DB.Write): fn may run more than once.
func (db *DB) write(ctx context.Context, fn func(tx *tx) error) error {
	return db.sql.Write(ctx, func(t *database.Tx) error { return fn(&tx{t, db}) })
}

// view runs fn over one unchanging state of the database (see database.DB.View).
func (db *DB) view(ctx context.Context, fn func(tx *tx) error) error {
	return db.sql.View(ctx, func(t *database.Tx) error { return fn(&tx{t, db}) })
}

// Close waits for the running transactions and closes every connection.
func (db *DB) Close() error { return db.sql.Close() }

// Ping returns fault.Unavailable if the database does not respond.
func (db *DB) Ping(ctx context.Context) error { return db.sql.Ping(ctx) }

// Engine names the engine in use, for logs and metrics.
func (db *DB) Engine() string { return db.sql.Engine() }

// Failures is how many calls of this process the database could not serve.
func (db *DB) Failures() uint64 { return db.sql.Failures() }

// Migrated returns nil if every migration is applied, ErrNotMigrated if not, and
// fault.Unavailable if the database does not respond.
func (db *DB) Migrated(ctx context.Context) error { return db.sql.Migrated(ctx) }

// Migrate applies the missing migrations. Replicas may call it concurrently.
func (db *DB) Migrate(ctx context.Context) error { return db.sql.Migrate(ctx) }
