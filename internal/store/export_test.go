package store

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/database"
)

// Tx is tx.
type Tx = tx

// SearchWindow is searchWindow.
const SearchWindow = searchWindow

// Write is write.
func (db *DB) Write(ctx context.Context, fn func(*Tx) error) error { return db.write(ctx, fn) }

// NewID returns a new identifier.
func (db *DB) NewID() string { return db.options.NewID() }

// Query runs a read.
func (db *DB) Query(ctx context.Context, q string, args ...any) (*database.Rows, error) {
	return db.sql.Query(ctx, q, args...)
}

// QueryRow runs a read of at most one row.
func (db *DB) QueryRow(ctx context.Context, q string, args ...any) *database.Row {
	return db.sql.QueryRow(ctx, q, args...)
}

// Exec runs a writing statement.
func (db *DB) Exec(ctx context.Context, q string, args ...any) (affected int64, err error) {
	return db.sql.Exec(ctx, q, args...)
}

// ReindexListing is reindexListing.
func (tx *tx) ReindexListing(ctx context.Context, coachID string) error {
	return tx.reindexListing(ctx, coachID)
}

// History is history.
func (db *DB) History(ctx context.Context, playerID string) ([]approval.Record, error) {
	return history(ctx, db.sql, playerID)
}

// Announce is announce.
func (db *DB) Announce(accountIDs []string) { db.announce(accountIDs) }
