package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/touchline/touchline/internal/fault"
)

const (
	// writeLimit ends a transaction, detached as it is from its request.
	writeLimit = 10 * time.Second
	// A transaction that rivals overtake is tried again, at most so often and so long.
	writeTries  = 100
	retryLimit  = 5 * time.Second
	backoffMin  = time.Millisecond
	backoffMax  = 50 * time.Millisecond
	backoffGrow = 6 // doublings from min to max
)

// errOpenRows tells the programmer that PostgreSQL runs one statement at a time
// on a connection; SQLite is held to the same.
var errOpenRows = errors.New("database: the rows of an earlier query are still open")

// tx is one transaction. It belongs to the function that write or view gave it
// to and to that function's goroutine.
type Tx struct {
	// Now is the transaction's one timestamp, UTC, whole microseconds, as stored.
	Now time.Time

	db *DB
	on handle // SQLite
	pg *pgTx  // PostgreSQL
	// ctx is the transaction's own, which outlives the request: a commit must not
	// be torn because a phone went out of reach.
	ctx    context.Context
	hooks  []func()
	open   *Rows
	failed error
}

// write runs fn in one transaction: committed if fn answers nil or commit(err),
// else rolled back. fn MAY RUN MORE THAN ONCE: on ErrStale, on a serialization
// failure or deadlock, on a connection lost before the commit, and when SQLite's
// shared commit failed for all; so it must set, not add to, what it captures.
// Having begun, it no longer heeds the end of ctx but has writeLimit; a ctx that
// has ended before is refused. fn must not call write.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	own, done, err := db.detached(ctx)
	if err != nil {
		return err
	}
	defer done()

	start := time.Now()
	for try := 1; ; try++ {
		t := &Tx{db: db}
		committed, err := db.attempt(ctx, own, t, fn)
		if committed {
			for _, hook := range t.hooks {
				hook()
			}
			return err
		}
		_, atCommit := errors.AsType[*commitError](err)
		if !mayRepeat(err) && (atCommit || !isLost(err)) {
			return db.failure(err)
		}
		if try == writeTries || time.Since(start) > retryLimit || !pause(own, try) {
			return db.failure(fault.Down(err))
		}
	}
}

// detached counts a write in and gives it a time of its own, for once it has begun it
// does not end with its request. done must follow.
func (db *DB) detached(ctx context.Context) (own context.Context, done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, classify(err)
	}
	if err := db.enter(); err != nil {
		return nil, nil, err
	}
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	return own, func() { cancel(); db.leave() }, nil
}

// attempt runs fn once in a transaction and says whether it was committed, which
// it may be although err is not nil.
func (db *DB) attempt(ctx, own context.Context, t *Tx, fn func(*Tx) error) (bool, error) {
	if db.writer != nil {
		return db.writer.do(ctx, own, t, fn)
	}
	keep := false
	err := db.borrow(own, beginWrite, func(pg *pgTx) (err error) {
		t.pg = pg
		if keep, err = t.run(own, fn); keep {
			if failure := pg.commit(own); failure != nil {
				keep, err = false, failure
			}
		}
		return err
	})
	return keep, err
}

// borrow lends fn a connection to PostgreSQL for a transaction, which begins with
// its first statement and is undone unless fn commits it.
func (db *DB) borrow(ctx context.Context, begin string, fn func(*pgTx) error) error {
	return db.withConn(ctx, func(conn *pgx.Conn) error {
		pg := &pgTx{conn: conn, begin: begin}
		defer pg.rollback(ctx) // serves panics too
		return fn(pg)
	})
}

// view runs fn over one unchanging state of the database, for several reads that
// must agree. fn may not write, and may run more than once.
func (db *DB) View(ctx context.Context, fn func(tx *Tx) error) error {
	if err := ctx.Err(); err != nil {
		return classify(err)
	}
	limited, cancel := db.engine.readContext(ctx)
	defer cancel()
	for try := 1; ; try++ {
		err := db.look(limited, fn)
		if err == nil || try == readTries || !(isLost(err) || mayRepeat(err)) {
			return db.failure(err)
		}
	}
}

func (db *DB) look(ctx context.Context, fn func(*Tx) error) error {
	if db.cached == nil {
		return db.borrow(ctx, beginView, func(pg *pgTx) error {
			_, err := (&Tx{db: db, pg: pg}).run(ctx, fn)
			return err
		})
	}
	sqlTx, err := db.reads.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	cached := &cachedTx{Tx: sqlTx, cache: db.cached}
	defer cached.learn(ctx) // after the rollback
	defer func() { _ = sqlTx.Rollback() }()
	_, err = (&Tx{db: db, on: cached}).run(ctx, fn)
	return err
}

// run lets fn work on a transaction, and says whether to keep it.
func (t *Tx) run(ctx context.Context, fn func(*Tx) error) (keep bool, err error) {
	t.ctx, t.Now = ctx, t.db.Now()
	t.hooks, t.open, t.failed = nil, nil, nil
	// A panic must leave no statement running on a connection that others share.
	defer t.closeRows()
	err = fn(t)
	// A guard that was put off may fail where fn takes it for one of the statement
	// at hand: whatever fn made of it, all is to be tried again.
	if mayRepeat(t.failed) {
		return false, t.failed
	}
	kept, isKept := err.(*committed)
	if isKept {
		err = kept.err
	} else if _, isKept = errors.AsType[*committed](err); !isKept && err != nil {
		return false, err
	}
	// PostgreSQL would refuse to commit after a failure; SQLite would keep half.
	if t.failed != nil {
		return false, t.failed
	}
	if t.open != nil {
		return false, errOpenRows
	}
	if t.pg != nil && t.pg.mayFail() {
		if failure := t.Flush(); failure != nil {
			return false, failure
		}
	}
	return true, err
}

// exec runs a statement that answers no rows. Like those of query and QueryRow
// its errors are classified, and after one the transaction can only end. The
// transaction's own context takes the place of ctx.
func (t *Tx) Exec(_ context.Context, query string, args ...any) (sql.Result, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	observe(query, args)
	if t.pg != nil {
		n, err := t.pg.exec(t.ctx, query, args)
		return driver.RowsAffected(n), t.note(err)
	}
	res, err := t.on.ExecContext(t.ctx, query, args...)
	return res, t.note(err)
}

// ExecOne is exec for a guarded statement: ErrStale unless it met exactly one row.
func (t *Tx) ExecOne(ctx context.Context, query string, args ...any) error {
	res, err := t.Exec(ctx, query, args...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return ErrStale
}

// query runs a statement that answers rows; they must be closed before the next
// statement of the transaction.
func (t *Tx) Query(_ context.Context, query string, args ...any) (*Rows, error) {
	if err := t.ready(); err != nil {
		return nil, err
	}
	observe(query, args)
	rs, err := t.answer(query, args)
	if err != nil {
		return nil, t.note(err)
	}
	t.open = &Rows{cursor: rs, tx: t, closed: func() { t.open = nil }}
	return t.open, nil
}

func (t *Tx) answer(query string, args []any) (cursor, error) {
	if t.pg != nil {
		return t.pg.query(t.ctx, query, args)
	}
	return t.on.QueryContext(t.ctx, query, args...)
}

// QueryRow runs a statement that answers at most one row.
func (t *Tx) QueryRow(ctx context.Context, query string, args ...any) *Row {
	rs, err := t.Query(ctx, query, args...)
	return &Row{rs, err}
}

// AfterCommit has hook run once the transaction is committed, on the caller's
// goroutine and before write returns; never after a rollback.
func (t *Tx) AfterCommit(hook func()) { t.hooks = append(t.hooks, hook) }

func (t *Tx) ready() error {
	if t.failed != nil {
		return t.failed
	}
	if t.open != nil {
		return t.note(errOpenRows)
	}
	return nil
}

// note remembers the first failure, so that nothing is built upon it.
func (t *Tx) note(err error) error {
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

// commitError is a failure of COMMIT itself. Where the connection broke, nobody
// knows whether it was kept, so it is not tried again.
type commitError struct{ err error }

func (e *commitError) Error() string { return fmt.Sprintf("commit: %v", e.err) }
func (e *commitError) Unwrap() error { return e.err }

// pause waits before the next try, with jitter, growing; false if ctx ended.
func pause(ctx context.Context, try int) bool {
	wait := min(backoffMin<<min(try-1, backoffGrow), backoffMax)
	timer := time.NewTimer(rand.N(wait))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// cachedTx runs a read transaction's statements from the pool's cache. It never
// prepares one through the pool: that takes a second connection, and transactions
// that hold one each and wait for another would wait for each other for ever.
type cachedTx struct {
	*sql.Tx
	cache *prepared
	// unknown are the statements that the cache lacked.
	unknown []string
}

// QueryContext runs a statement that answers rows.
func (c *cachedTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt, room := c.cache.known(query); stmt != nil {
		return c.Tx.StmtContext(ctx, stmt).QueryContext(ctx, args...)
	} else if room {
		c.unknown = append(c.unknown, query)
	}
	return c.Tx.QueryContext(ctx, query, args...)
}

// learn prepares what the cache lacked, for the next time. The transaction must
// have ended. What cannot be prepared shows when it is run.
func (c *cachedTx) learn(ctx context.Context) {
	for _, query := range c.unknown {
		_, _ = c.cache.stmt(ctx, query)
	}
}
