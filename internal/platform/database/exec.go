package database

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// Exec runs one writing statement that returns no rows, and returns the number of rows that
// it affected. Like Write it does not end with ctx once it has begun, and it retries. On
// PostgreSQL the statement is a transaction by itself, which saves a round trip.
func (db *DB) Exec(ctx context.Context, query string, args ...any) (affected int64, err error) {
	if db.writer != nil {
		err = db.Write(ctx, func(tx *Tx) (err error) {
			affected, err = tx.Exec(ctx, query, args...)
			return err
		})
		return affected, err
	}
	err = db.single(ctx, query, args, func(own context.Context) error {
		return db.withConn(own, func(conn *pgx.Conn) error {
			tag, err := conn.Exec(own, query, args...)
			affected = tag.RowsAffected()
			return err
		})
	})
	return affected, err
}

// ExecRow is Exec for a statement that returns at most one row, which scan reads; its Scan
// returns sql.ErrNoRows without a row. scan may run more than once. On PostgreSQL the
// write is committed even if scan fails.
func (db *DB) ExecRow(ctx context.Context, scan func(Scanner) error, query string, args ...any) error {
	return db.ExecRows(ctx, func(rs *Rows, err error) error { return scan(&Row{rs, err}) }, query, args...)
}

// ExecRows is Exec for a statement that returns rows. read gets the result of the query
// and may run more than once.
func (db *DB) ExecRows(ctx context.Context, read func(*Rows, error) error, query string, args ...any) error {
	if db.writer != nil {
		return db.Write(ctx, func(tx *Tx) error { return read(tx.Query(ctx, query, args...)) })
	}
	return db.single(ctx, query, args, func(own context.Context) error {
		// pgx reads the columns with half of the work of database/sql.
		return db.withConn(own, func(conn *pgx.Conn) error {
			rs, err := conn.Query(own, query, args...)
			if err != nil {
				return read(nil, err)
			}
			rows := &Rows{cursor: pgRows{rs, nil}, closed: func() {}}
			defer rows.Close()
			return read(rows, nil)
		})
	})
}

// single runs one statement on PostgreSQL as a transaction by itself, detached from ctx
// as Write does.
func (db *DB) single(ctx context.Context, query string, args []any, run func(ctx context.Context) error) error {
	observe(query, args)
	own, done, err := db.detach(ctx)
	if err != nil {
		return err
	}
	defer done()
	end := db.span(ctx, query)
	for attempt := 1; ; attempt++ {
		// If the connection is lost after the statement was sent, the statement may be
		// committed: do not retry.
		err := run(own)
		if IsReadOnly(err) && attempt < maxReadOnlyAttempts {
			db.dropIdle()
			continue
		}
		if !(mayRetry(err) || isConnectionLost(err) && pgconn.SafeToRetry(err)) || attempt == db.maxAttempts || !backoff(own, attempt) {
			endSpan(end, err)
			return db.failure(err)
		}
	}
}

// withConn runs fn with a connection to PostgreSQL.
func (db *DB) withConn(ctx context.Context, fn func(*pgx.Conn) error) error {
	conn, err := db.reads.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var failed error
	lost := conn.Raw(func(raw any) error {
		failed = fn(raw.(*stdlib.Conn).Conn())
		return nil
	})
	return cmp.Or(failed, lost)
}

// observer is nil in the service.
var observer atomic.Pointer[func(query string, args []any)]

// Observe calls fn with every statement of this process before it runs, until stop is
// called. Tests use it to inspect query plans.
func Observe(fn func(query string, args []any)) (stop func()) {
	observer.Store(&fn)
	return func() { observer.Store(nil) }
}

func observe(query string, args []any) {
	if fn := observer.Load(); fn != nil {
		(*fn)(query, args)
	}
}
