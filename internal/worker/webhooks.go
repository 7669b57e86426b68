package worker

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/operator"
)

const (
	// webhookClaim is how many messages of a webhook one claim takes. They are sent
	// concurrently, because each is about another player.
	webhookClaim = 8
	// webhookLease is longer than an attempt may take. After it another worker may claim the
	// messages again.
	webhookLease = time.Minute
)

// WebhooksConfig is the configuration for NewWebhooks. All fields are required.
type WebhooksConfig struct {
	Queue operator.WebhookQueue
	// Send makes one attempt. It returns an error only if nothing can be sent.
	Send func(ctx context.Context, target operator.WebhookTarget, m operator.WebhookMessage) (operator.WebhookAttempt, error)
	// Signal wakes Run after a commit that added changes.
	Signal *Signal

	Now       func() time.Time
	NewTicker NewTicker
	NewID     func() string
	Log       *slog.Logger
}

// Webhooks sends the changes of the feed to the webhooks. Each webhook is handled by a
// goroutine while it has something to send, so an endpoint that hangs delays no other.
type Webhooks struct {
	WebhooksConfig

	mu sync.Mutex
	// running has the webhooks that a goroutine handles; true says that there is more to do.
	running map[string]bool
}

// NewWebhooks returns Webhooks. Run starts them.
func NewWebhooks(c WebhooksConfig) *Webhooks {
	return &Webhooks{WebhooksConfig: c, running: map[string]bool{}}
}

// Run sends messages until ctx ends and the attempts in progress are finished.
func (w *Webhooks) Run(ctx context.Context) {
	var wait sync.WaitGroup
	defer wait.Wait()
	poll, stop := w.NewTicker(pollEvery)
	defer stop()
	anyEnabled := true // until the first query
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll:
		case <-w.Signal.woken:
			if !anyEnabled {
				continue // a poll finds a new webhook
			}
		}
		var due []string
		err := recovered(func() (err error) {
			due, anyEnabled, err = w.Queue.DueWebhooks(ctx)
			return err
		})
		if err != nil && ctx.Err() == nil {
			w.Log.Warn("find due webhooks", "error", err)
		}
		for _, id := range due {
			if w.begin(id) {
				wait.Go(func() { w.serve(ctx, id) })
			}
		}
	}
}

// begin reports whether the caller must handle a webhook. If a goroutine already handles it,
// that goroutine looks for messages again before it ends.
func (w *Webhooks) begin(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, running := w.running[id]
	w.running[id] = running
	return !running
}

// end reports whether the goroutine of a webhook may end.
func (w *Webhooks) end(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[id] {
		w.running[id] = false
		return false
	}
	delete(w.running, id)
	return true
}

// serve sends the messages of one webhook until none is due.
func (w *Webhooks) serve(ctx context.Context, id string) {
	for {
		worked := false
		err := recovered(func() (err error) {
			worked, err = w.sendBatch(ctx, id)
			return err
		})
		if err != nil && ctx.Err() == nil {
			w.Log.Warn("send messages of a webhook", "webhook", id, "error", err)
		}
		if ctx.Err() != nil || !worked || err != nil {
			if w.end(id) || ctx.Err() != nil {
				return
			}
		}
	}
}

// sendBatch queues the next changes, and claims and sends up to webhookClaim messages. It
// reports whether there was anything to do.
func (w *Webhooks) sendBatch(ctx context.Context, id string) (worked bool, err error) {
	queued, err := w.Queue.QueueWebhookMessages(ctx, id)
	if err != nil {
		return false, err
	}
	target, claimed, err := w.Queue.ClaimWebhookMessages(ctx, id, w.NewID(), w.Now().Add(webhookLease), webhookClaim)
	if err != nil {
		return false, err
	}
	// A shutdown does not abort attempts. After an error a message stays claimed until its
	// lease ends.
	detached := context.WithoutCancel(ctx)
	var wait sync.WaitGroup
	for _, m := range claimed {
		wait.Go(func() {
			if err := recovered(func() error { return w.attempt(detached, id, target, m) }); err != nil {
				w.Log.Warn("send a message of a webhook", "webhook", id, "message", m.ID, "error", err)
			}
		})
	}
	wait.Wait()
	return queued > 0 || len(claimed) > 0, nil
}

// attempt makes one attempt and saves its result.
func (w *Webhooks) attempt(ctx context.Context, id string, target operator.WebhookTarget, m operator.WebhookMessage) error {
	a, err := w.Send(ctx, target, m)
	if err != nil {
		return err
	}
	r := m.After(a, w.Now(), rand.Float64())
	health, err := w.Queue.SaveWebhookResult(ctx, id, m, r)
	switch {
	case err != nil:
		return err
	case health.Disabled != "":
		w.Log.Warn("a webhook was disabled: its endpoint accepts no messages", "webhook", id, "reason", health.Disabled)
	case health.FirstFailure:
		w.Log.Warn("a webhook does not accept messages", "webhook", id, "message", m.ID, "reason", r.Error)
	case r.State == operator.MessageFailed:
		w.Log.Warn("a message of a webhook failed", "webhook", id, "message", m.ID, "attempts", m.Attempts, "reason", r.Error)
	}
	return nil
}
