// Package store keeps everything the service knows, in SQLite or PostgreSQL.
// It holds all SQL and no rule: the features hand it pure functions, and it runs
// them inside transactions. Each aggregate has its file; dialect.go alone knows
// the engines, and the text of every statement is the same for both.
//
// # Reading and writing
//
// A single statement outside a transaction is db.query, db.queryRow or db.exec.
// Several statements that must see one state are db.view. Whatever writes is
// db.write: one transaction with one timestamp, retried where a rival was
// faster, whose function may therefore run more than once.
package store

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/notify"
)

// DB is the one database of the service, safe for concurrent use.
type DB struct {
	// Now is the clock. Every transaction reads it once.
	Now func() time.Time
	// NewID makes an identifier: a UUID version 7, rising within the process.
	NewID func() string
	// Settings are to be set before the first use.
	Settings Settings
	// OnQueued and OnNotified run after a commit that queued an SMS, or that wrote
	// to the trays of these accounts. They must not block; nil is nobody to tell.
	OnQueued   func(kind notify.Kind)
	OnNotified func(accountIDs []string)
	// Reserve asks this process's worker for a place for an OTP about to be queued;
	// nil, or a nil Place, is none: then the OTP waits for whoever claims it.
	Reserve func() Place

	vault      *auth.Vault // see SetVault
	announce   chan []string
	engine     engine
	reads      *sql.DB   // PostgreSQL: the pool of both reads and writes
	convoy     *convoy   // PostgreSQL: those who write one statement; else nil
	cached     *prepared // SQLite: the statements of reads; else nil
	writer     *writer   // SQLite: whoever writes; else nil
	target     target
	migrations fs.FS

	// writing guards closed and counts the transactions under way, so that Close
	// can let them end.
	writing sync.RWMutex
	closed  bool
	running sync.WaitGroup

	failures atomic.Uint64
}

// Options tune Open. The zero value is right for the service.
type Options struct {
	// MaxConns is how many connections to PostgreSQL this process may hold;
	// 0 means 16. SQLite has one for writing and one a core for reading.
	MaxConns int
	// ConnectTimeout ends an attempt to reach PostgreSQL; 0 means 5 s. A
	// connect_timeout in the URL wins.
	ConnectTimeout time.Duration
	// Migrations replaces the migrations of the service, for tests of the engine:
	// *.sql at its root, named as goose wants them.
	Migrations fs.FS
}

// Open opens the database at url: sqlite:<path>, which is made with mode 0600
// where there is none, or postgres://…. It does not migrate. A database that
// cannot be reached is fault.Unavailable; a URL that cannot be read is not.
func Open(ctx context.Context, url string, o Options) (*DB, error) {
	t, err := parseURL(url, o)
	if err != nil {
		return nil, err
	}
	db := &DB{
		Now:        time.Now,
		NewID:      func() string { return uuid.Must(uuid.NewV7()).String() },
		announce:   make(chan []string, 256),
		engine:     t.engine,
		target:     t,
		migrations: o.Migrations,
	}
	if db.migrations == nil {
		db.migrations = embedded()
	}
	if err := db.connect(); err != nil {
		return nil, err
	}
	if err := db.Ping(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// connect opens the pools. Nothing is dialled but SQLite's writer, which must
// come first: it makes the file that the readers open read-only.
func (db *DB) connect() error {
	if db.engine == postgres {
		db.reads = db.target.openPool()
		db.convoy = &convoy{lend: db.lend}
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

// Close lets the transactions under way end, refuses new ones as Unavailable,
// and closes every connection. Closing twice is harmless.
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
	// SQLite's writer goes last: it folds the write-ahead log into the file.
	if db.writer != nil {
		errs = append(errs, db.writer.close())
	}
	return errors.Join(errs...)
}

// enter counts a transaction in; leave must follow. It refuses once closed.
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

// Ping says whether the database answers; fault.Unavailable where it does not.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	return db.queryRow(ctx, `SELECT 1`).Scan(&one)
}

// Engine names the engine in use, for logs and metrics: "sqlite" or "postgres".
func (db *DB) Engine() string { return string(db.engine) }
