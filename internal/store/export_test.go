package store

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
)

// SearchWindow is searchWindow.
const SearchWindow = searchWindow

// NewID returns a new identifier.
func (db *DB) NewID() string { return db.options.NewID() }

// Exec runs a writing statement.
func (db *DB) Exec(ctx context.Context, q string, args ...any) (affected int64, err error) {
	return db.sql.Exec(ctx, q, args...)
}

// History is history.
func (db *DB) History(ctx context.Context, playerID string) ([]approval.Record, error) {
	return history(ctx, db.sql, playerID)
}

// Announce is announce.
func (db *DB) Announce(accountIDs []string) { db.announce(accountIDs) }
