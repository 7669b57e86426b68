package store

import (
	"context"
	"time"

	"github.com/touchline/touchline/internal/auth"
)

// Take counts one occurrence against limits in a transaction of its own.
func (db *DB) Take(ctx context.Context, limits ...auth.Limit) (limited *auth.LimitExceeded, err error) {
	err = db.write(ctx, func(tx *tx) error {
		limited, err = tx.countLimits(ctx, tx.Now, limits)
		return err
	})
	return limited, err
}

// CountLimits says how many rows the limits have.
func (db *DB) CountLimits(ctx context.Context) (n int, err error) {
	err = db.sql.QueryRow(ctx, `SELECT count(*) FROM limits`).Scan(&n)
	return n, err
}

// SweepAt is Sweep at a time of the test's.
func (db *DB) SweepAt(ctx context.Context, now time.Time) error {
	_, err := db.Sweep(ctx, now)
	return err
}
