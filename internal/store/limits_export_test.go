package store

import (
	"context"
	"time"
)

// CountLimits returns the number of limits with a count.
func (db *DB) CountLimits(ctx context.Context) (n int, err error) {
	err = db.sql.QueryRow(ctx, `SELECT count(DISTINCT key) FROM limits`).Scan(&n)
	return n, err
}

// SweepAt is Sweep at a time that the test chooses.
func (db *DB) SweepAt(ctx context.Context, now time.Time) error {
	_, err := db.Sweep(ctx, now)
	return err
}
