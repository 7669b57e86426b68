package store

import (
	"context"
	"errors"
	"time"

	"github.com/touchline/touchline/internal/auth"
)

// errRefused rolls back an occurrence that a limit refuses.
var errRefused = errors.New("refused")

// CountOccurrence counts one occurrence against limits in its own transaction.
func (db *DB) CountOccurrence(ctx context.Context, limits ...auth.Limit) (exceeded *auth.LimitExceeded, err error) {
	counter := db.NewLimitCounter()
	err = db.Write(ctx, func(tx *Tx) error {
		if exceeded, err = counter.Count(ctx, tx, tx.Now, limits); err == nil && exceeded != nil {
			return errRefused
		}
		return err
	})
	if errors.Is(err, errRefused) {
		err = nil
	}
	return exceeded, err
}

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
