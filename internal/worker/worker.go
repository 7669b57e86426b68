// Package worker does what no request waits for: it sends what the outbox holds,
// tells coaches of requests that have waited for long, renews keys, and sweeps
// up. Every replica runs one; they meet only in the database, where a claim or a
// guarded update makes each thing happen once.
package worker

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Periods of the background work. Each is a net below what wakes the worker at
// once, or work that nobody notices when it is late.
const (
	pollEvery   = time.Second
	digestEvery = time.Second
	keysEvery   = time.Minute
	sweepEvery  = 10 * time.Minute
	// A certificate's notice is due at midnight, and is no less true a minute later.
	expiryEvery     = 5 * time.Second
	sweepFilesEvery = 10 * time.Second
)

// Worker runs the background work of one replica.
type Worker struct {
	Outbox *Outbox
	// Digests tells coaches that are due; it returns how many it looked at.
	Digests func(ctx context.Context, n int) (int, error)
	// Keys renews the signing keys and reads those that others made.
	Keys func(ctx context.Context) error
	// Expiries tells coaches of certificates that end; it returns how many it looked at.
	Expiries func(ctx context.Context, n int) (int, error)
	// SweepFiles removes the bytes that no document names; it returns how many blobs went.
	SweepFiles func(ctx context.Context) (int64, error)
	// Sweep removes what has ended; it returns how many rows went.
	Sweep func(ctx context.Context) (int64, error)
	Log   *slog.Logger
}

// digestBatch is how many coaches, or certificates, one look tells of.
const digestBatch = 100

// Run works until ctx ends, then lets what is under way finish.
func (w *Worker) Run(ctx context.Context) {
	var wait sync.WaitGroup
	wait.Go(func() { w.Outbox.Run(ctx) })
	wait.Go(func() { w.every(ctx, "digests", digestEvery, batches(w.Digests)) })
	wait.Go(func() { w.every(ctx, "expiries", expiryEvery, batches(w.Expiries)) })
	wait.Go(func() {
		w.every(ctx, "sweep files", sweepFilesEvery, func(ctx context.Context) error {
			_, err := w.SweepFiles(ctx)
			return err
		})
	})
	wait.Go(func() { w.every(ctx, "keys", keysEvery, w.Keys) })
	wait.Go(func() {
		w.every(ctx, "sweep", sweepEvery, func(ctx context.Context) error {
			_, err := w.Sweep(ctx)
			return err
		})
	})
	wait.Wait()
}

// batches does all that is due, batch by batch.
func batches(tell func(ctx context.Context, n int) (int, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			n, err := tell(ctx, digestBatch)
			if err != nil || n < digestBatch {
				return err
			}
		}
	}
}

// every runs job each period. An error is logged, and the job tried again the
// next time: the database may be away for a while.
func (w *Worker) every(ctx context.Context, name string, period time.Duration, job func(context.Context) error) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := contained(func() error { return job(ctx) }); err != nil && ctx.Err() == nil {
			w.Log.Warn("background work failed, and will be tried again", "work", name, "error", err)
		}
	}
}

// contained runs one piece of work and makes an error of its panic, with the
// stack: what is broken in one must not end the process, and all others with it.
func contained(work func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return work()
}
