package store

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/auth"
)

// CountOccurrence counts one occurrence against limits in its own transaction.
func (db *DB) CountOccurrence(ctx context.Context, limits ...auth.Limit) (exceeded *auth.LimitExceeded, err error) {
	err = db.write(ctx, func(tx *tx) error {
		exceeded, err = tx.countLimits(ctx, tx.Now, limits)
		return err
	})
	return exceeded, err
}

// CountLimits returns the number of rows in limits.
func (db *DB) CountLimits(ctx context.Context) (n int, err error) {
	err = db.sql.QueryRow(ctx, `SELECT count(*) FROM limits`).Scan(&n)
	return n, err
}

// SweepAt is Sweep at a time that the test chooses.
func (db *DB) SweepAt(ctx context.Context, now time.Time) error {
	_, err := db.Sweep(ctx, now)
	return err
}
