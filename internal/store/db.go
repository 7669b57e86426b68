// Package store holds the schema, the transactions of features, the hooks between them, and
// the sweep. Features have their own SQL. Package database knows the engines; the text of
// every statement is the same for both.
package store

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/vault"
)

//go:embed migrations
var migrations embed.FS

// Migrations returns the migrations of the service, for database.Options.
func Migrations() fs.FS {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder's name is a constant
	}
	return files
}

// DB stores the data of the service. It is safe for concurrent use.
type DB struct {
	// Outbox sends what leaves the service.
	Outbox *outbox.Store
	// Operators has operators' tokens and sessions, and the audit log.
	Operators operator.SQL
	sql       *database.DB
	options   Options
	// counted numbers the requests that count limits.
	counted atomic.Uint64
	// announced is the queue of announce.
	announced chan []string
}

// Options configure New.
type Options struct {
	// Rand is the source of short codes; nil means crypto/rand.
	Rand io.Reader
	// NewID returns an identifier; nil means UUIDs of version 7, which rise within the
	// process.
	NewID    func() string
	Settings Settings
	// Vault seals personal data and derives the tokens of links. Without it, operations
	// that need it fail.
	Vault *vault.Vault
	// OnQueued runs after a commit that queued a delivery. OnNotified runs after this or
	// another replica added notifications for these accounts, OnChanged after one added
	// changes to the feed; here is true for this replica. None may block; nil means none.
	OnQueued   func(lane message.Lane)
	OnNotified func(accountIDs []string)
	OnChanged  func(here bool)
	Hooks      Hooks
}

// Hooks are what features do in the transaction of a change that they depend on.
type Hooks struct {
	// CoachLeft run when a coach closes the account.
	CoachLeft []func(ctx context.Context, tx *Tx, coachID string) error
	// Consents is nil in tests without it.
	Consents Consents
	// Erased runs when the data of a player is erased, with its parties, or that of an account of a family, with its
	// role. kind is that of the row in erasures.
	Erased func(ctx context.Context, tx *Tx, kind, objectID string, parties []ErasedParty) error
	// BeforeSweep run before Sweep deletes rows. They return the number of rows that they changed.
	BeforeSweep []func(ctx context.Context, db *DB, now time.Time) (int64, error)
	// Expired are the rows of features that Sweep deletes.
	Expired []Expired
}

// Consents is what happens to players and their consents in the transactions that change their coach. Package player
// implements it.
type Consents interface {
	// CloseCoach ends what belongs to the players of a coach who closes the account.
	CloseCoach(by actor.Actor, name string) CoachClosure
	// CheckNumber refuses a new number of a coach.
	CheckNumber(ctx context.Context, tx *Tx, coachID string, to phone.Number) error
	// TierChanged follows a change of the stored tier of a coach.
	TierChanged(ctx context.Context, tx *Tx, coachID, before, after string) error
	// CoachChanged follows a change of the name or the picture of a coach.
	CoachChanged(ctx context.Context, tx *Tx, coachID string, before, after CoachShown) error
	// CoachRenaming follows the wish of a coach for another name, which takes effect later.
	CoachRenaming(ctx context.Context, tx *Tx, coachID, before, after string, from time.Time) error
	// Requests returns what happens to requests in the transactions of the outbox.
	Requests(db *DB) outbox.Requests
}

// CoachClosure are the steps of Consents.CloseCoach, in their order.
type CoachClosure interface {
	// EndPlayers runs before and after the number of the account is released: only then no other
	// transaction adds a player.
	EndPlayers(ctx context.Context, tx *Tx) error
	// EndRequests runs after EndPlayers.
	EndRequests(ctx context.Context, tx *Tx) error
	// Notify runs last. It locks the accounts of families, in the order of their ids.
	Notify(ctx context.Context, tx *Tx) error
}

// Expired are rows that Sweep deletes. Query deletes or changes at most $2 rows that are older than $1, which is
// Kept ago.
type Expired struct {
	What, Query string
	Kept        time.Duration
}

// New returns the store of a database, which must be migrated before use.
func New(db *database.DB, o Options) *DB {
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.OnQueued == nil {
		o.OnQueued = func(message.Lane) {}
	}
	if o.OnNotified == nil {
		o.OnNotified = func([]string) {}
	}
	if o.OnChanged == nil {
		o.OnChanged = func(bool) {}
	}
	store := &DB{sql: db, options: o, announced: make(chan []string, maxAnnounced)}
	store.Outbox = &outbox.Store{DB: db, NewID: o.NewID, Settings: o.Settings.Outbox, OnQueued: o.OnQueued}
	if consents := o.Hooks.Consents; consents != nil {
		store.Outbox.Requests = consents.Requests(store)
	}
	store.Operators = operator.SQL{DB: db, NewID: o.NewID, CountWaiting: store.countWaiting}
	return store
}

// NewID returns a new identifier.
func (db *DB) NewID() string { return db.options.NewID() }

// Now returns the time of the database's clock.
func (db *DB) Now() time.Time { return db.sql.Now() }

// Writable returns fault.Unavailable if the database does not respond or takes no writes.
func (db *DB) Writable(ctx context.Context) error { return db.sql.Writable(ctx) }

// Query runs a read: see database.DB.Query.
func (db *DB) Query(ctx context.Context, query string, args ...any) (*database.Rows, error) {
	return db.sql.Query(ctx, query, args...)
}

// QueryRow runs a read of at most one row.
func (db *DB) QueryRow(ctx context.Context, query string, args ...any) *database.Row {
	return db.sql.QueryRow(ctx, query, args...)
}

// Exec runs one writing statement: see database.DB.Exec.
func (db *DB) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return db.sql.Exec(ctx, query, args...)
}

// ExecRow runs one writing statement that returns at most one row: see database.DB.ExecRow.
func (db *DB) ExecRow(ctx context.Context, scan func(database.Scanner) error, query string, args ...any) error {
	return db.sql.ExecRow(ctx, scan, query, args...)
}

// CountRequest returns the number of a request that counts limits. Requests of one replica take the
// shards of a limit in turn.
func (db *DB) CountRequest() uint64 { return db.counted.Add(1) }

// Failures returns how many calls of this process the database could not serve.
func (db *DB) Failures() uint64 { return db.sql.Failures() }

// Pools is database.DB.Pools.
func (db *DB) Pools() map[string]database.Pool { return db.sql.Pools() }

// EmptyLog is database.DB.EmptyLog.
func (db *DB) EmptyLog(ctx context.Context) error { return db.sql.EmptyLog(ctx) }

// Tx is one transaction. Helpers that write are its methods.
type Tx struct {
	*database.Tx
	db *DB
}

// Tx returns a transaction of the outbox as one of the store.
func (db *DB) Tx(tx *database.Tx) *Tx { return &Tx{Tx: tx, db: db} }

// DB returns the store of the transaction.
func (tx *Tx) DB() *DB { return tx.db }

// Write runs fn in one transaction. fn may run more than once: see database.DB.Write.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	return db.sql.Write(ctx, func(t *database.Tx) error { return fn(&Tx{Tx: t, db: db}) })
}

// WriteEach runs fn in one transaction for each item. An error of one item does not stop the
// others, unless the database is unavailable. what describes the work on an item in its error.
func WriteEach[T any](ctx context.Context, db *DB, items []T, what func(T) string, fn func(*Tx, T) error) error {
	var failed []error
	for _, item := range items {
		err := db.Write(ctx, func(tx *Tx) error { return fn(tx, item) })
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", what(item), err))
		}
		if ctx.Err() != nil || fault.KindOf(err) == fault.Unavailable {
			break
		}
	}
	return errors.Join(failed...)
}

// View runs several reads over one state of the database: see database.DB.View.
func (db *DB) View(ctx context.Context, fn func(tx *Tx) error) error {
	return db.sql.View(ctx, func(t *database.Tx) error { return fn(&Tx{Tx: t, db: db}) })
}
