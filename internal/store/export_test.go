package store

import "context"

// NewID returns a new identifier.
func (db *DB) NewID() string { return db.options.NewID() }

// Exec runs a writing statement.
func (db *DB) Exec(ctx context.Context, q string, args ...any) (affected int64, err error) {
	return db.sql.Exec(ctx, q, args...)
}

// Announce is announce.
func (db *DB) Announce(accountIDs []string) { db.announce(accountIDs) }
