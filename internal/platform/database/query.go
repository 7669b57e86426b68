package database

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/touchline/touchline/internal/platform/fault"
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
// errors, also of the rows, are fault.Unavailable if the database cannot serve.
func (db *DB) Query(ctx context.Context, sql string, args ...any) (*Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, classify(err)
	}
	observe(sql, args)
	end := db.span(ctx, sql)
	limited, cancel := db.engine.readContext(ctx)
	for attempt := 1; ; attempt++ {
		rs, err := db.read(limited, sql, args)
		if err == nil {
			endSpan(end, nil)
			return &Rows{cursor: rs, closed: cancel}, nil
		}
		if attempt == maxReadAttempts || limited.Err() != nil || !(isConnectionLost(err) || mayRetry(err)) {
			cancel()
			endSpan(end, err)
			return nil, db.failure(err)
		}
	}
}

// read runs a read once. On PostgreSQL it reads the rows with pgx: database/sql needs a
// quarter more CPU time.
func (db *DB) read(ctx context.Context, query string, args []any) (cursor, error) {
	if db.cached != nil {
		return db.cached.QueryContext(ctx, query, args...)
	}
	conn, err := db.reads.Conn(ctx)
	if err != nil {
		return nil, err
	}
	var rows pgx.Rows
	failed := conn.Raw(func(raw any) error {
		rows, err = raw.(*stdlib.Conn).Conn().Query(ctx, query, args...)
		return nil
	})
	err = cmp.Or(err, failed)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	// pgx reports most failures with the first row. Report them here, so that Query retries.
	read := &pgRead{Rows: rows, conn: conn, first: rows.Next()}
	if err := rows.Err(); err != nil {
		_ = read.Close()
		return nil, err
	}
	return read, nil
}

// pgRead are the rows of a read on PostgreSQL, with their connection. The first row has been
// received.
type pgRead struct {
	pgx.Rows
	conn  *sql.Conn
	first bool // Next has not returned it yet
}

// Next advances to the next row.
func (r *pgRead) Next() bool {
	if r.first {
		r.first = false
		return true
	}
	return r.Rows.Next()
}

// Close reads to the end and returns the connection to the pool.
func (r *pgRead) Close() error {
	r.Rows.Close()
	_ = r.conn.Close()
	return r.Rows.Err()
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
	err = classify(err)
	if fault.KindOf(err) == fault.Unavailable {
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
