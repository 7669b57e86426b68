// Package database runs SQL on SQLite or PostgreSQL. It opens the connections, runs
// transactions and retries them, applies migrations, and classifies failures. It knows
// nothing of the tables: package store holds the schema and every statement.
//
// # Reading and writing
//
// DB.Query and DB.QueryRow run one read outside a transaction. DB.View runs several reads
// that must see one state. DB.Exec, DB.ExecRow and DB.ExecRows run one writing statement.
// DB.Write runs a transaction. It retries the transaction after a conflict with a
// concurrent one, so its function may run more than once.
//
// Both engines run the same text of each statement. What differs is a fragment:
// DB.SkipLocked, Tx.ForShare, Tx.ForKeyShare.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/telemetry"
)

// DB is one database, safe for concurrent use.
type DB struct {
	now        func() time.Time
	engine     engine
	reads      *sql.DB   // PostgreSQL: the pool of both reads and writes
	cached     *prepared // SQLite: the prepared statements of reads; else nil
	writer     *writer   // SQLite: runs the writing transactions; else nil
	target     target
	tracer     *telemetry.Tracer
	migrations fs.FS
	first      func(ctx context.Context, tx *sql.Tx) error // runs Options.FirstMigration; nil without it

	// writing guards closed and counts the running transactions, so that Close
	// can let them end.
	writing sync.RWMutex
	closed  bool
	running sync.WaitGroup

	maxAttempts  int
	retryTimeout time.Duration

	failures atomic.Uint64
	// listening: see Listening.
	listening atomic.Bool
	// notifyAt is when Notify sends again, in nanoseconds since 1970.
	notifyAt atomic.Int64
	// suspect says that SQLite refused a write or could not use the disk: see Writable.
	suspect atomic.Bool
}

// Options tune Open. The zero value opens a database without migrations.
type Options struct {
	// Now is the clock; nil means time.Now. Every transaction reads it once.
	Now func() time.Time
	// Migrations are the *.sql files at its root, named as goose requires.
	Migrations fs.FS
	// FirstMigration is a statement that runs in the transaction of the first migration, after it; empty runs none.
	FirstMigration string
	// FirstArguments are the arguments of FirstMigration.
	FirstArguments []any
	// MaxConns is how many connections to PostgreSQL this process may hold; 0 means 16. A pool_max_conns
	// in the URL wins. SQLite has one connection for writing and one per core for reading.
	MaxConns int
	// ApplicationName is the name PostgreSQL shows for the connections. An
	// application_name in the URL wins.
	ApplicationName string
	// Tracer makes a span for each statement of a request or delivery; nil makes none.
	Tracer *telemetry.Tracer
}

// Open opens the database at url: sqlite:<path> or postgres://…. It creates a missing
// SQLite file with mode 0600. It does not migrate. Its error is fault.Unavailable if the
// database cannot be reached; a malformed URL is another error.
func Open(ctx context.Context, url string, o Options) (*DB, error) {
	t, err := parseURL(url, o)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	db := &DB{now: o.Now, engine: t.engine, target: t, migrations: o.Migrations, tracer: o.Tracer, maxAttempts: maxAttempts, retryTimeout: retryTimeout}
	if o.FirstMigration != "" {
		db.first = func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, o.FirstMigration, o.FirstArguments...)
			return err
		}
	}
	if db.now == nil {
		db.now = time.Now
	}
	if err := db.connect(); err != nil {
		return nil, err
	}
	if err := db.Ping(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// connect opens the pools. It dials only SQLite's writer, which creates the file that
// the readers open read-only.
func (db *DB) connect() error {
	if db.engine == postgres {
		db.reads = db.target.openPool(withParams(db.target.config, sessionParams))
		return nil
	}
	if err := db.target.makeFile(); err != nil {
		return classify(err)
	}
	w, err := startWriter(db.target)
	if err != nil {
		return classify(err)
	}
	db.writer = w
	db.reads, err = db.target.openReaders()
	if err != nil {
		return errors.Join(classify(err), w.close())
	}
	db.cached = newPrepared(db.reads)
	return nil
}

// Close waits for the running transactions, refuses new ones as Unavailable, and
// closes every connection. A second call does nothing.
func (db *DB) Close() error {
	db.writing.Lock()
	was := db.closed
	db.closed = true
	db.writing.Unlock()
	if was {
		return nil
	}
	db.running.Wait()
	var errs []error
	if db.reads != nil {
		errs = append(errs, db.reads.Close())
	}
	// SQLite's writer closes last: it checkpoints the write-ahead log into the file.
	if db.writer != nil {
		errs = append(errs, db.writer.close())
	}
	return errors.Join(errs...)
}

// enter counts a running transaction; leave must follow. It fails after Close.
func (db *DB) enter() error {
	db.writing.RLock()
	defer db.writing.RUnlock()
	if db.closed {
		return fault.Down(errClosed)
	}
	db.running.Add(1)
	return nil
}

func (db *DB) leave() { db.running.Done() }

// Now returns the time of the clock, UTC, in whole microseconds as a column keeps it.
func (db *DB) Now() time.Time { return db.now().UTC().Truncate(time.Microsecond) }

// Ping returns fault.Unavailable if the database does not respond.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	return db.QueryRow(ctx, `SELECT 1`).Scan(&one)
}

// SkipLocked is the clause that makes a SELECT lock its rows and skip rows that another
// transaction has locked.
func (db *DB) SkipLocked() string { return db.engine.skipLocked() }

// SkipLocked is DB.SkipLocked.
func (t *Tx) SkipLocked() string { return t.db.engine.skipLocked() }

// ForShare is the clause that locks the rows read from table against every change until
// the commit.
func (t *Tx) ForShare(table string) string { return t.db.engine.forShare(table) }

// ForKeyShare is the clause that locks the rows read from table against deletion and
// changes of their keys until the commit. Other columns may change.
func (t *Tx) ForKeyShare(table string) string { return t.db.engine.forKeyShare(table) }

// ClockOffset returns how far the clock of this process is ahead of the clock of PostgreSQL. The
// error of the result is at most the time of one query. On SQLite it is 0.
func (db *DB) ClockOffset(ctx context.Context) (time.Duration, error) {
	if db.engine != postgres {
		return 0, nil
	}
	var server int64
	start := db.now()
	err := db.QueryRow(ctx, `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`).Scan(&server)
	if err != nil {
		return 0, fmt.Errorf("read the clock of the database: %w", err)
	}
	return start.Sub(time.UnixMicro(server)), nil
}
