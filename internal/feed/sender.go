package feed

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/worker"
)

const (
	// webhookClaim is how many messages of a webhook one claim takes. They are sent
	// concurrently, because each is about another player.
	webhookClaim = 8
	// webhookLease is longer than an attempt may take. After it another worker may claim the
	// messages again.
	webhookLease = time.Minute
)

// SenderConfig is the configuration for NewSender. All fields are required.
type SenderConfig struct {
	Webhooks *Webhooks
	// Attempted counts an attempt by the state of its message.
	Attempted func(state string)
	// Signal wakes Run after a commit that added changes.
	Signal *worker.Signal

	Now       func() time.Time
	NewTicker worker.NewTicker
	NewID     func() string
	Log       *slog.Logger
}

// Sender sends the changes of the feed to the webhooks. Each webhook is handled by a
// goroutine while it has something to send, so an endpoint that hangs delays no other.
type Sender struct {
	SenderConfig

	mu sync.Mutex
	// running has the webhooks that a goroutine handles; true says that there is more to do.
	running map[string]bool
}

// NewSender returns a Sender. Run starts it.
func NewSender(c SenderConfig) *Sender {
	return &Sender{SenderConfig: c, running: map[string]bool{}}
}

// Run sends messages until ctx ends and the attempts in progress are finished.
func (s *Sender) Run(ctx context.Context) {
	var wait sync.WaitGroup
	defer wait.Wait()
	poll, stop := s.NewTicker(worker.PollEvery)
	defer stop()
	anyEnabled := true // until the first query
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll:
		case <-s.Signal.Woken():
			if !anyEnabled {
				continue // a poll finds a new webhook
			}
		}
		var due []string
		err := worker.Recovered(func() (err error) {
			due, anyEnabled, err = s.Webhooks.Due(ctx)
			return err
		})
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("find due webhooks", "error", err)
		}
		for _, id := range due {
			if s.begin(id) {
				wait.Go(func() { s.serve(ctx, id) })
			}
		}
	}
}

// Once sends messages until none is due, one webhook after the other. It is for simulations; see worker.Worker.Once.
func (s *Sender) Once(ctx context.Context) {
	due, _, err := s.Webhooks.Due(ctx)
	if err != nil {
		s.Log.Warn("find due webhooks", "error", err)
	}
	for _, id := range due {
		if s.begin(id) {
			s.serve(ctx, id)
		}
	}
}

// begin reports whether the caller must handle a webhook. If a goroutine already handles it,
// that goroutine looks for messages again before it ends.
func (s *Sender) begin(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, running := s.running[id]
	s.running[id] = running
	return !running
}

// end reports whether the goroutine of a webhook may end.
func (s *Sender) end(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running[id] {
		s.running[id] = false
		return false
	}
	delete(s.running, id)
	return true
}

// serve sends the messages of one webhook until none is due.
func (s *Sender) serve(ctx context.Context, id string) {
	for {
		worked := false
		err := worker.Recovered(func() (err error) {
			worked, err = s.sendBatch(ctx, id)
			return err
		})
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("send messages of a webhook", "webhook", id, "error", err)
		}
		if ctx.Err() != nil || !worked || err != nil {
			if s.end(id) || ctx.Err() != nil {
				return
			}
		}
	}
}

// sendBatch queues the next changes, new ones and those of a replay, and claims and sends up to webhookClaim messages. It
// reports whether there was anything to do.
func (s *Sender) sendBatch(ctx context.Context, id string) (worked bool, err error) {
	queued, err := s.Webhooks.Queue(ctx, id)
	if err != nil {
		return false, err
	}
	replayed, err := s.Webhooks.QueueReplay(ctx, id)
	if err != nil {
		return false, err
	}
	target, claimed, err := s.Webhooks.Claim(ctx, id, s.NewID(), s.Now().Add(webhookLease), webhookClaim)
	if err != nil {
		return false, err
	}
	// A shutdown does not abort attempts. After an error a message stays claimed until its
	// lease ends.
	detached := context.WithoutCancel(ctx)
	var wait sync.WaitGroup
	for _, m := range claimed {
		wait.Go(func() {
			if err := worker.Recovered(func() error { return s.attempt(detached, id, target, m) }); err != nil {
				s.Log.Warn("send a message of a webhook", "webhook", id, "message", m.ID, "error", err)
			}
		})
	}
	wait.Wait()
	return queued+replayed > 0 || len(claimed) > 0, nil
}

// attempt makes one attempt and saves its result.
func (s *Sender) attempt(ctx context.Context, id string, target WebhookTarget, m WebhookMessage) error {
	a, err := s.Webhooks.Send(ctx, target, m)
	if err != nil {
		return err
	}
	r := m.After(a, s.Now(), rand.Float64())
	health, err := s.Webhooks.SaveResult(ctx, id, m, r)
	if err != nil {
		return err
	}
	s.Attempted(r.State)
	switch {
	case health.Disabled != "":
		s.Log.Warn("a webhook was disabled: its endpoint accepts no messages", "webhook", id, "reason", health.Disabled)
	case health.FirstFailure:
		s.Log.Warn("a webhook does not accept messages", "webhook", id, "message", m.ID, "reason", r.Error)
	case r.State == MessageFailed:
		s.Log.Warn("a message of a webhook failed", "webhook", id, "message", m.ID, "attempts", m.Attempts, "reason", r.Error)
	}
	return nil
}
