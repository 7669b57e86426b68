package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// writeTimeout limits a write, which does not end with its request.
	writeTimeout = 10 * time.Second
	// A write is tried at most maxAttempts times within retryTimeout. The pause between
	// two attempts doubles from backoffMin to backoffMax.
	maxAttempts  = 100
	retryTimeout = 8 * time.Second
	backoffMin   = time.Millisecond
	backoffMax   = 50 * time.Millisecond
	maxDoublings = 6
	// maxReadOnlyAttempts limits how many read-only connections a write may meet. After a
	// failover every connection of the pool is one.
	maxReadOnlyAttempts = 3
)

// errOpenRows reports a programming error: PostgreSQL runs one statement at a time on a
// connection. SQLite could run several; Tx refuses that too.
var errOpenRows = errors.New("database: the rows of an earlier query are still open")

// Tx is one transaction. Only the function that Write or View calls may use it, on its own
// goroutine.
type Tx struct {
	// Now is the time of the transaction, UTC, in whole microseconds.
	Now time.Time

	db *DB
	on handle // SQLite
	pg *pgTx  // PostgreSQL
	// ctx is the context of the transaction. It outlives the request, so that a client
	// that disconnects does not interrupt a commit.
	ctx    context.Context
	hooks  []func()
	open   *Rows
	failed error
}

// Write runs fn in one transaction. It commits if fn returns nil, else it rolls back.
//
// fn MAY RUN MORE THAN ONCE: after ErrStale, a serialization failure, a deadlock, a
// connection lost before the commit, or a failed group commit. So it must assign the
// variables that it captures, not add to them.
//
// The end of ctx does not interrupt a transaction that has begun; writeTimeout does. fn
// must not call Write: on SQLite that would deadlock.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	own, done, err := db.detach(ctx)
	if err != nil {
		return err
	}
	defer done()

	start := time.Now()
	for attempt := 1; ; attempt++ {
		t := &Tx{db: db}
		err := db.attempt(ctx, own, t, fn)
		if err == nil {
			for _, hook := range t.hooks {
				hook()
			}
			return nil
		}
		if IsReadOnly(err) && attempt < maxReadOnlyAttempts {
			db.dropIdle()
			continue
		}
		_, atCommit := errors.AsType[*commitError](err)
		if !mayRetry(err) && (atCommit || !isConnectionLost(err)) {
			return db.failure(err)
		}
		if attempt == db.maxAttempts || time.Since(start) > db.retryTimeout || !backoff(own, attempt) {
			return db.failure(fault.Down(err))
		}
	}
}

// detach counts a running write and returns a context that does not end with ctx. The
// caller must call done.
func (db *DB) detach(ctx context.Context) (own context.Context, done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, classify(err)
	}
	if err := db.enter(); err != nil {
		return nil, nil, err
	}
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	return own, func() { cancel(); db.leave() }, nil
}

// attempt runs fn once in a transaction.
func (db *DB) attempt(ctx, own context.Context, t *Tx, fn func(*Tx) error) error {
	if db.writer != nil {
		return db.writer.do(ctx, own, t, fn)
	}
	return db.withPgTx(own, beginWrite, func(pg *pgTx) error {
		t.pg = pg
		if err := t.run(own, fn); err != nil {
			return err
		}
		return pg.commit(own)
	})
}

// withPgTx runs fn with a transaction on PostgreSQL and rolls it back unless fn commits.
func (db *DB) withPgTx(ctx context.Context, begin string, fn func(*pgTx) error) error {
	return db.withConn(ctx, func(conn *pgx.Conn) error {
		pg := &pgTx{conn: conn, begin: begin}
		defer pg.rollback(ctx) // after a panic too
		return fn(pg)
	})
}

// View runs several reads over one state of the database. fn must not write, and may run
// more than once.
func (db *DB) View(ctx context.Context, fn func(tx *Tx) error) error {
	if err := ctx.Err(); err != nil {
		return classify(err)
	}
	limited, cancel := db.engine.readContext(ctx)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := db.viewOnce(limited, fn)
		if err == nil || attempt == maxReadAttempts || !(isConnectionLost(err) || mayRetry(err)) {
			return db.failure(err)
		}
	}
}

func (db *DB) viewOnce(ctx context.Context, fn func(*Tx) error) error {
	if db.cached == nil {
		return db.withPgTx(ctx, beginView, func(pg *pgTx) error {
			return (&Tx{db: db, pg: pg}).run(ctx, fn)
		})
	}
	sqlTx, err := db.reads.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	cached := &cachedTx{Tx: sqlTx, cache: db.cached}
	defer cached.prepareMissing(ctx) // after the rollback
	defer func() { _ = sqlTx.Rollback() }()
	return (&Tx{db: db, on: cached}).run(ctx, fn)
}

// run calls fn. It returns nil if the transaction may commit.
func (t *Tx) run(ctx context.Context, fn func(*Tx) error) error {
	t.ctx, t.Now = ctx, t.db.Now()
	t.hooks, t.open, t.failed = nil, nil, nil
	// A panic must leave no open rows on a connection that other transactions use.
	defer t.closeRows()
	err := fn(t)
	// A deferred guard may fail in a later statement, whose error fn may handle as its own.
	// Retry even if fn returned another error or nil.
	if mayRetry(t.failed) {
		return t.failed
	}
	if err != nil {
		return err
	}
	// After a failed statement, PostgreSQL would refuse the commit; SQLite would commit the
	// other statements.
	if t.failed != nil {
		return t.failed
	}
	if t.open != nil {
		return errOpenRows
	}
	if t.pg != nil && t.pg.mayFail() {
		return t.Flush()
	}
	return nil
}

// Exec runs a statement that returns no rows, and returns the number of rows that it
// affected. After an error the transaction can only roll back. Statements run under the
// context of the transaction, not under the given one.
func (t *Tx) Exec(_ context.Context, query string, args ...any) (affected int64, err error) {
	if err := t.ready(); err != nil {
		return 0, err
	}
	observe(query, args)
	end := t.db.span(t.ctx, query)
	defer func() { endSpan(end, err) }()
	if t.pg != nil {
		affected, err = t.pg.exec(t.ctx, query, args)
		return affected, t.fail(err)
	}
	res, err := t.on.ExecContext(t.ctx, query, args...)
	if err == nil {
		affected, err = res.RowsAffected()
	}
	return affected, t.fail(err)
}

// ExecOne is Exec for a guarded statement: ErrStale unless it affects exactly one row.
func (t *Tx) ExecOne(ctx context.Context, query string, args ...any) error {
	if n, err := t.Exec(ctx, query, args...); err != nil || n == 1 {
		return err
	}
	return ErrStale
}

// Query runs a statement that returns rows. They must be closed before the next statement
// of the transaction.
func (t *Tx) Query(_ context.Context, query string, args ...any) (*Rows, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	observe(query, args)
	end := t.db.span(t.ctx, query)
	rs, err := t.query(query, args)
	endSpan(end, err)
	if err != nil {
		return nil, t.fail(err)
	}
	t.open = &Rows{cursor: rs, tx: t, closed: func() { t.open = nil }}
	return t.open, nil
}

func (t *Tx) query(query string, args []any) (cursor, error) {
	if t.pg != nil {
		return t.pg.query(t.ctx, query, args)
	}
	return t.on.QueryContext(t.ctx, query, args...)
}

// QueryRow runs a statement that returns at most one row.
func (t *Tx) QueryRow(ctx context.Context, query string, args ...any) *Row {
	rs, err := t.Query(ctx, query, args...)
	return &Row{rs, err}
}

// AfterCommit runs hook after the commit, on the caller's goroutine, before Write returns.
// A hook of a transaction that is rolled back does not run.
func (t *Tx) AfterCommit(hook func()) { t.hooks = append(t.hooks, hook) }

func (t *Tx) ready() error {
	if t.failed != nil {
		return t.failed
	}
	if t.open != nil {
		return t.fail(errOpenRows)
	}
	return nil
}

// fail classifies err and saves the first failure. It returns nil for nil.
func (t *Tx) fail(err error) error {
	if err == nil {
		return nil
	}
	err = classify(err)
	if t.failed == nil {
		t.failed = err
	}
	return err
}

func (t *Tx) closeRows() {
	if t.open != nil {
		_ = t.open.Close()
	}
}

// commitError is a failed COMMIT. If the connection broke, the transaction may be
// committed, so it is not retried.
type commitError struct{ err error }

func (e *commitError) Error() string { return fmt.Sprintf("commit: %v", e.err) }
func (e *commitError) Unwrap() error { return e.err }

// backoff waits before the next attempt, with jitter. It returns false if ctx ends.
func backoff(ctx context.Context, attempt int) bool {
	wait := min(backoffMin<<min(attempt-1, maxDoublings), backoffMax)
	timer := time.NewTimer(rand.N(wait))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// cachedTx runs the statements of a read transaction on SQLite with prepared statements
// from the pool's cache. It prepares none during the transaction: that takes a second
// connection, so transactions that hold all connections would deadlock.
type cachedTx struct {
	*sql.Tx
	cache   *prepared
	missing []string // statements to prepare after the transaction
}

// QueryContext runs a statement that returns rows.
func (c *cachedTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt, space := c.cache.lookup(query); stmt != nil {
		return c.Tx.StmtContext(ctx, stmt).QueryContext(ctx, args...)
	} else if space {
		c.missing = append(c.missing, query)
	}
	return c.Tx.QueryContext(ctx, query, args...)
}

// prepareMissing prepares the missing statements for the next transaction. Their errors
// show when they run.
func (c *cachedTx) prepareMissing(ctx context.Context) {
	for _, query := range c.missing {
		_, _ = c.cache.stmt(ctx, query)
	}
}
