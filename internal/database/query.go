package database

import (
	"context"
	"database/sql"
	"time"

	"github.com/touchline/touchline/internal/fault"
)

const (
	// readTimeout limits a read on PostgreSQL, including the wait for a connection.
	readTimeout = 10 * time.Second
	// maxReadAttempts limits how many broken connections a read may meet. After a restart
	// of the server every connection of the pool is broken.
	maxReadAttempts = 2 * defaultMaxConns
	// maxPrepared limits the prepared statements of one pool. The statements are literals,
	// so more of them means that some text is built at run time.
	maxPrepared = 512
)

// Querier is a DB or a Tx. Helpers that only read take it, so that they work inside and
// outside a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (*Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) *Row
}

// Scanner reads the columns of a row. *Row and *Rows implement it.
type Scanner interface{ Scan(dest ...any) error }

// handle runs statements: a pool, a connection or a transaction.
type handle interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Query runs a read outside a transaction. The rows must be closed; Collect does so. Its
// errors, and those of the rows, are fault.Unavailable if the database cannot serve.
func (db *DB) Query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, classify(err)
	}
	observe(sql, args)
	limited, cancel := db.engine.readContext(ctx)
	var on handle = db.reads
	if db.cached != nil {
		on = db.cached
	}
	for attempt := 1; ; attempt++ {
		rs, err := on.QueryContext(limited, sql, args...)
		if err == nil {
			return &Rows{cursor: rs, closed: cancel}, nil
		}
		if attempt == maxReadAttempts || limited.Err() != nil || !(isConnectionLost(err) || mayRetry(err)) {
			cancel()
			return nil, db.failure(err)
		}
	}
}

// failure classifies the final error of a call and counts it. Errors after Close are
// fault.Unavailable too: database/sql does not export the error of a closed pool.
func (db *DB) failure(err error) error {
	if err == nil {
		return nil
	}
	db.writing.RLock()
	closed := db.closed
	db.writing.RUnlock()
	if closed {
		return fault.Down(err)
	}
	if isDamaged(err) {
		db.dropIdle()
	}
	if isDamaged(err) || isDiskFailure(err) {
		db.suspect.Store(true)
	}
	if err = classify(err); fault.KindOf(err) == fault.Unavailable {
		db.failures.Add(1)
	}
	return err
}

// Failures returns how many calls of this process the database could not serve.
func (db *DB) Failures() uint64 { return db.failures.Load() }

// QueryRow runs a read of at most one row outside a transaction. Its Scan returns
// sql.ErrNoRows without a row.
func (db *DB) QueryRow(ctx context.Context, sql string, args ...any) *Row {
	rs, err := db.Query(ctx, sql, args...)
	return &Row{rs, err}
}
