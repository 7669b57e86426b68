package server

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// checkTimeout limits a check of the database.
const checkTimeout = 5 * time.Second

// readiness knows whether load balancers may send requests to the replica.
type readiness struct {
	checkDatabase func(context.Context) error
	draining      atomic.Bool
	// limited says why the replica has switched services off although it is ready, or "".
	limited func() string

	mu      sync.Mutex
	running *databaseResult // of the check that runs; nil if none does
}

// databaseResult is the result of a check of the database. err is set when done is closed.
type databaseResult struct {
	done chan struct{}
	err  error
}

// databaseCheck returns a function that reports whether the database is migrated, takes writes and still has the secret of keys.
func databaseCheck(db *database.DB, keys *auth.Keys) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := errors.Join(keys.Usable(), db.Migrated(ctx)); err != nil {
			return err
		}
		return db.Writable(ctx)
	}
}

// check returns why load balancers must send no requests, or nil. Concurrent calls share one
// check of the database: /readyz has no limit per address, and each check is a write on SQLite. A
// client that goes away does not end the check of the others.
func (r *readiness) check(ctx context.Context) error {
	if r.draining.Load() {
		return fault.ErrDraining
	}
	r.mu.Lock()
	if running := r.running; running != nil {
		r.mu.Unlock()
		select {
		case <-running.done:
			return running.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	own := &databaseResult{done: make(chan struct{}), err: errCheckPanicked}
	r.running = own
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.running = nil
		r.mu.Unlock()
		close(own.done)
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
	defer cancel()
	own.err = r.checkDatabase(ctx)
	return own.err
}

var errCheckPanicked = errors.New("the check of the database panicked")
