package store

import (
	"context"
	"database/sql"
	"strconv"
	"time"
)

// What the tests of the engine need of its inside.

type (
	Tx      = tx
	Scanner = scanner
)

var (
	ErrStale = errStale
	IsUnique = isUnique
	Classify = classify
	Commit   = commit
	ParseURL = func(url string) error { _, err := parseURL(url, Options{}); return err }
)

func (db *DB) Write(ctx context.Context, fn func(*Tx) error) error { return db.write(ctx, fn) }
func (db *DB) View(ctx context.Context, fn func(*Tx) error) error  { return db.view(ctx, fn) }
func (db *DB) Query(ctx context.Context, q string, args ...any) (*rows, error) {
	return db.query(ctx, q, args...)
}

func (db *DB) QueryRow(ctx context.Context, q string, args ...any) *row {
	return db.queryRow(ctx, q, args...)
}

func (db *DB) Exec(ctx context.Context, q string, args ...any) (sql.Result, error) {
	return db.exec(ctx, q, args...)
}

func (t *tx) Exec(ctx context.Context, q string, args ...any) (sql.Result, error) {
	return t.exec(ctx, q, args...)
}

func (t *tx) ExecOne(ctx context.Context, q string, args ...any) error {
	return t.execOne(ctx, q, args...)
}

func (t *tx) Query(ctx context.Context, q string, args ...any) (*rows, error) {
	return t.query(ctx, q, args...)
}

func (t *tx) QueryRow(ctx context.Context, q string, args ...any) *row {
	return t.queryRow(ctx, q, args...)
}
func (t *tx) AfterCommit(hook func()) { t.afterCommit(hook) }
func (t *tx) Now() time.Time          { return t.now }

// Unprepared reads without the cache of statements, to measure what it gains.
func (db *DB) Unprepared(ctx context.Context, q string, dest any, args ...any) error {
	return db.reads.QueryRowContext(ctx, q, args...).Scan(dest)
}

// MaxPages bounds the size of a SQLite file, as a full disk would; 0 lifts it. It
// answers how many pages the file has.
func (db *DB) MaxPages(ctx context.Context, pages int) (now int, err error) {
	err = db.write(ctx, func(tx *tx) error {
		if err := tx.queryRow(ctx, `PRAGMA page_count`).Scan(&now); err != nil {
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

// Relist is relist.
func (t *tx) Relist(ctx context.Context, coachID string) error { return t.relist(ctx, coachID) }

// SearchWindow is searchWindow.
const SearchWindow = searchWindow
