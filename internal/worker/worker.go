// Package worker runs the background work: it sends deliveries from the outbox and changes
// to webhooks, notifies coaches of requests that are pending for long and of certificates
// that expire, makes repeated fees and reminds of fees, rotates keys, and deletes what has
// ended. Every replica runs a worker. Claims and guarded updates in the database make sure
// that only one replica does each piece of work.
package worker

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// The periods of the background work.
const (
	// PollEvery finds deliveries that became due, or were queued by another process.
	PollEvery = time.Second
	// wakeHeldEvery checks whether a limit was lifted before the time that was expected.
	wakeHeldEvery  = 20 * time.Second
	expansionEvery = time.Second
	// tellAgain is how soon the same error of a job is in the log again.
	tellAgain = time.Minute
)

// jobBatch is how many things one call of a job in batches handles.
const jobBatch = 100

// NewTicker returns a channel that receives the time each period, as the channel of a
// time.Ticker does, and a function that stops it.
type NewTicker func(period time.Duration) (ticks <-chan time.Time, stop func())

// Config is the configuration for New. All fields but Webhooks and Observe are required.
type Config struct {
	Outbox *Outbox
	// Webhooks sends the changes of the feed to other services; nil sends none.
	Webhooks Webhooks
	// Expand gives the recipients of messages their deliveries.
	Expand Expansion
	// Jobs are the rest of the work.
	Jobs []Job
	// Observe is called once for each job, and the function that it returns after each run; nil observes none.
	Observe   func(name string) (done func(error))
	NewTicker NewTicker
	Log       *slog.Logger
}

// Job is background work that runs each period.
type Job struct {
	Name  string
	Every time.Duration
	Run   func(context.Context) error
}

// Webhooks sends the changes of the feed to other services.
type Webhooks interface {
	// Run sends until ctx ends.
	Run(ctx context.Context)
	// Once sends until nothing is due.
	Once(ctx context.Context)
}

// Worker runs the background work of one replica.
type Worker struct{ config Config }

// New returns a Worker. Run starts it.
func New(c Config) *Worker { return &Worker{c} }

// Run works until ctx ends and the work in progress is finished.
func (w *Worker) Run(ctx context.Context) {
	c := w.config
	var wait sync.WaitGroup
	wait.Go(func() { c.Outbox.Run(ctx) })
	if c.Webhooks != nil {
		wait.Go(func() { c.Webhooks.Run(ctx) })
	}
	for _, j := range c.Jobs {
		wait.Go(func() { w.every(ctx, j) })
	}
	wait.Go(func() { w.expand(ctx) })
	wait.Wait()
}

// InBatches repeats job, which handles up to n things and returns how many it found, until a batch is not full.
func InBatches(job func(ctx context.Context, n int) (int, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			n, err := job(ctx, jobBatch)
			if err != nil || n < jobBatch {
				return err
			}
		}
	}
}

// Uncounted is job without the number that it returns.
func Uncounted(job func(ctx context.Context) (int64, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := job(ctx)
		return err
	}
}

// every runs a job each period. It logs an error and continues: the database may be
// unavailable for a while.
func (w *Worker) every(ctx context.Context, job Job) {
	ticks, stop := w.config.NewTicker(job.Every)
	defer stop()
	done := func(error) {}
	if w.config.Observe != nil {
		done = w.config.Observe(job.Name)
	}
	var told string // the last error in the log, and when
	var toldAt time.Time
	for {
		var at time.Time
		select {
		case <-ctx.Done():
			return
		case at = <-ticks:
		}
		err := Recovered(func() error { return job.Run(ctx) })
		if err == nil || ctx.Err() == nil {
			done(err)
		}
		switch {
		case err == nil:
			told = ""
		case ctx.Err() == nil && (err.Error() != told || at.Sub(toldAt) >= tellAgain):
			told, toldAt = err.Error(), at
			w.config.Log.Warn("a background job failed and will run again", "job", job.Name, "error", err)
		}
	}
}

// Recovered runs work and turns a panic into an error with the stack, so that one
// broken job does not end the process.
func Recovered(work func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return work()
}

// Signal wakes a job of this process after a commit that gave it work. It is safe for
// concurrent use.
type Signal struct{ woken chan struct{} }

// NewSignal returns a Signal.
func NewSignal() *Signal { return &Signal{make(chan struct{}, 1)} }

// Wake wakes the job. It never blocks, and wakes are merged.
func (s *Signal) Wake() {
	select {
	case s.woken <- struct{}{}:
	default: // a wake is pending
	}
}

// Woken receives after a wake.
func (s *Signal) Woken() <-chan struct{} { return s.woken }
