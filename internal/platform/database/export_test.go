package database

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"
)

var (
	Classify    = classify
	PlannedOnce = plannedOnce
	ParseURL    = func(url string) error { _, err := parseURL(url, Options{}); return err }
)

// SetNow replaces the clock.
func (db *DB) SetNow(now func() time.Time) { db.now = now }

// SetRetries replaces the limits of a write that runs again, and returns the defaults.
func (db *DB) SetRetries(attempts int, timeout time.Duration) (defaultAttempts int, defaultTimeout time.Duration) {
	defaultAttempts, defaultTimeout = db.maxAttempts, db.retryTimeout
	db.maxAttempts, db.retryTimeout = attempts, timeout
	return defaultAttempts, defaultTimeout
}

// Unprepared reads without the cache of prepared statements, to measure its gain.
func (db *DB) Unprepared(ctx context.Context, q string, dest any, args ...any) error {
	return db.reads.QueryRowContext(ctx, q, args...).Scan(dest)
}

// MaxPages limits the size of a SQLite file to its pages and so many more, as a full disk
// would; 0 removes the limit. It returns the number of pages.
func (db *DB) MaxPages(ctx context.Context, pages int) (now int, err error) {
	err = db.Write(ctx, func(tx *Tx) error {
		if err := tx.QueryRow(ctx, `PRAGMA page_count`).Scan(&now); err != nil {
			return err
		}
		limit := now + pages
		if pages == 0 {
			limit = 1 << 30
		}
		rs, err := tx.on.QueryContext(ctx, `PRAGMA max_page_count = `+strconv.Itoa(limit))
		if err != nil {
			return err
		}
		return rs.Close()
	})
	return now, err
}

// SessionParams returns the run-time parameters of the connections to url.
func SessionParams(tb testing.TB, url string) map[string]string {
	tb.Helper()
	t, err := parseURL(url, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return withParams(t.config, sessionParams).RuntimeParams
}

// DialPostgres dials address as connections to url do.
func DialPostgres(ctx context.Context, url, address string) (net.Conn, error) {
	t, err := parseURL(url, Options{})
	if err != nil {
		return nil, err
	}
	return t.config.DialFunc(ctx, "tcp", address)
}
