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

	"github.com/touchline/touchline/internal/notice"
)

// The periods of the background work.
const (
	// PollEvery finds deliveries that became due, or were queued by another process.
	PollEvery = time.Second
	// wakeHeldEvery checks whether a limit was lifted before the time that was expected.
	wakeHeldEvery       = 20 * time.Second
	digestEvery         = time.Second
	expiryEvery         = 5 * time.Second
	feesEvery           = 5 * time.Second
	namesEvery          = 10 * time.Second
	sweepFilesEvery     = 10 * time.Second
	introspectionsEvery = time.Second
	keysEvery           = 10 * time.Second
	budgetEvery         = time.Minute
	adultsEvery         = time.Minute
	recordsEvery        = time.Second
	sampleEvery         = time.Hour
	erasuresEvery       = 5 * time.Second
	expansionEvery      = time.Second
	sweepEvery          = 10 * time.Minute
	// tellAgain is how soon the same error of a job is in the log again.
	tellAgain = time.Minute
)

// jobBatch is how many coaches, certificates or fees one call of a batch job handles.
const jobBatch = 100

// NewTicker returns a channel that receives the time each period, as the channel of a
// time.Ticker does, and a function that stops it.
type NewTicker func(period time.Duration) (ticks <-chan time.Time, stop func())

// Config is the configuration for New. All fields but Webhooks, PublishCheckpoints and Observe are required.
type Config struct {
	Outbox *Outbox
	// Webhooks sends the changes of the feed to other services; nil sends none.
	Webhooks Webhooks
	// SendDigests notifies up to n coaches of requests that are pending for long. It
	// returns how many it looked at.
	SendDigests func(ctx context.Context, n int) (int, error)
	// SendExpiryNotifications notifies coaches of up to n certificates that expire. It
	// returns how many it looked at.
	SendExpiryNotifications func(ctx context.Context, n int) (int, error)
	// MakeFees makes the next month of up to n repeated fees. It returns how many it found.
	MakeFees func(ctx context.Context, n int) (int, error)
	// RemindFees reminds families of up to n fees. It returns how many it found.
	RemindFees func(ctx context.Context, n int) (int, error)
	// TakeDueNames gives up to n coaches the names that they asked for 7 days ago. It returns how many it found.
	TakeDueNames func(ctx context.Context, n int) (int, error)
	// RotateKeys renews the signing keys and loads keys of other replicas.
	RotateKeys func(ctx context.Context) error
	// SweepFiles deletes files that no document refers to. It returns how many.
	SweepFiles func(ctx context.Context) (int64, error)
	// RecordIntrospections writes the counts of introspections to the audit log.
	RecordIntrospections func(ctx context.Context) error
	// RecordAdults adds the students who became adults to the feed of changes.
	RecordAdults func(ctx context.Context) error
	// TurnAdults carries out what is due for up to n students who become adults. It returns how many
	// it found.
	TurnAdults func(ctx context.Context, n int) (int, error)
	// SendSecondMessages repeats up to n yeses of guardians in a second message. It returns how many it found.
	SendSecondMessages func(ctx context.Context, n int) (int, error)
	// EndProofs ends up to n proofs of adults that are over, and tells guardians of those that end soon. It returns how many it found.
	EndProofs func(ctx context.Context, n int) (int, error)
	// NumberRecords gives waiting records of consents positions in their log.
	NumberRecords func(ctx context.Context) error
	// PublishCheckpoints send checkpoints of the log, each to another service.
	PublishCheckpoints []func(ctx context.Context) error
	// CheckApprovals compares a sample of approvals with their records.
	CheckApprovals func(ctx context.Context) error
	// AppendErasures appends new erasures to the file ERASURES.
	AppendErasures func(ctx context.Context) error
	// CheckBudget warns if the budget for SMS is short.
	CheckBudget func(ctx context.Context) error
	// RenewStreams renews the last-seen time of this process, if it has streams.
	RenewStreams func(ctx context.Context) error
	// Expand gives the recipients of messages their deliveries.
	Expand Expansion
	// FailRemovedChannels completes up to n overdue deliveries of channels that the service
	// no longer has. It returns n if there may be more.
	FailRemovedChannels func(ctx context.Context, n int) (int, error)
	// Sweep deletes rows that have ended. It returns how many.
	Sweep func(ctx context.Context) (int64, error)
	// Observe is called once for each job, and the function that it returns after each run; nil observes none.
	Observe   func(name string) (done func(error))
	NewTicker NewTicker
	Log       *slog.Logger
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

// job is one piece of background work that runs each period.
type job struct {
	name   string
	period time.Duration
	run    func(context.Context) error
}

// jobs returns all background work but the outbox, the webhooks and the expansion of messages, which a signal wakes.
func (c Config) jobs() []job {
	jobs := []job{
		{"send digests", digestEvery, inBatches(c.SendDigests)},
		{"send expiry notifications", expiryEvery, inBatches(c.SendExpiryNotifications)},
		{"make fees", feesEvery, inBatches(c.MakeFees)},
		{"remind of fees", feesEvery, inBatches(c.RemindFees)},
		{"give coaches new names", namesEvery, inBatches(c.TakeDueNames)},
		{"sweep files", sweepFilesEvery, uncounted(c.SweepFiles)},
		{"record introspections", introspectionsEvery, c.RecordIntrospections},
		{"rotate keys", keysEvery, c.RotateKeys},
		{"record new adults", adultsEvery, c.RecordAdults},
		{"turn adults", adultsEvery, inBatches(c.TurnAdults)},
		{"send second messages", adultsEvery, inBatches(c.SendSecondMessages)},
		{"end proofs of adults", adultsEvery, inBatches(c.EndProofs)},
		{"number records", recordsEvery, c.NumberRecords},
		{"compare approvals with their records", sampleEvery, c.CheckApprovals},
		{"append erasures to ERASURES", erasuresEvery, c.AppendErasures},
		{"check the SMS budget", budgetEvery, c.CheckBudget},
		{"renew the streams", notice.StreamsRenewed, c.RenewStreams},
		{"fail deliveries of removed channels", sweepEvery, inBatches(c.FailRemovedChannels)},
		{"sweep", sweepEvery, uncounted(c.Sweep)},
	}
	for _, publish := range c.PublishCheckpoints {
		jobs = append(jobs, job{"publish a checkpoint", recordsEvery, publish})
	}
	return jobs
}

// Run works until ctx ends and the work in progress is finished.
func (w *Worker) Run(ctx context.Context) {
	c := w.config
	var wait sync.WaitGroup
	wait.Go(func() { c.Outbox.Run(ctx) })
	if c.Webhooks != nil {
		wait.Go(func() { c.Webhooks.Run(ctx) })
	}
	for _, j := range c.jobs() {
		wait.Go(func() { w.every(ctx, j.name, j.period, j.run) })
	}
	wait.Go(func() { w.expand(ctx) })
	wait.Wait()
}

// inBatches repeats job until a batch is not full.
func inBatches(job func(ctx context.Context, n int) (int, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			n, err := job(ctx, jobBatch)
			if err != nil || n < jobBatch {
				return err
			}
		}
	}
}

func uncounted(job func(ctx context.Context) (int64, error)) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := job(ctx)
		return err
	}
}

// every runs job each period. It logs an error and continues: the database may be
// unavailable for a while.
func (w *Worker) every(ctx context.Context, name string, period time.Duration, job func(context.Context) error) {
	ticks, stop := w.config.NewTicker(period)
	defer stop()
	done := func(error) {}
	if w.config.Observe != nil {
		done = w.config.Observe(name)
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
		err := Recovered(func() error { return job(ctx) })
		if err == nil || ctx.Err() == nil {
			done(err)
		}
		switch {
		case err == nil:
			told = ""
		case ctx.Err() == nil && (err.Error() != told || at.Sub(toldAt) >= tellAgain):
			told, toldAt = err.Error(), at
			w.config.Log.Warn("a background job failed and will run again", "job", name, "error", err)
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
