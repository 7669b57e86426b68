package sms

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/message"
)

// pause is how long a provider is tried last after an outage. Then one message tries it.
const pause = 30 * time.Second

// failover sends each attempt through one of several providers: the first through the first
// one, the next through the one after it. Providers with an outage are tried last.
//
// One attempt uses one provider, so that a receipt of an attempt names one provider.
type failover struct {
	entries []*failoverEntry
	observe func(provider, outcome string)
}

type failoverEntry struct {
	namedProvider
	limit *rateLimit // nil without a limit

	mu sync.Mutex
	// pausedUntil is the end of the pause after an outage.
	pausedUntil time.Time
}

func newFailover(providers []namedProvider, observe func(provider, outcome string)) *failover {
	f := &failover{observe: observe}
	for _, p := range providers {
		f.entries = append(f.entries, &failoverEntry{namedProvider: p, limit: newRateLimit(p.rate)})
	}
	return f
}

// Send makes one attempt through one provider.
func (f *failover) Send(ctx context.Context, m Message) error {
	e := f.choose(m.Attempt, time.Now())
	if err := e.limit.wait(ctx, m.Kind == OTP); err != nil {
		return f.next(m, err)
	}
	err := e.Send(ctx, m)
	failed, ok := errors.AsType[*message.SendError](err)
	outcome := "sent"
	switch {
	case ok && failed.Permanent:
		outcome = "refused"
	case err != nil:
		outcome = "failed"
	}
	if f.observe != nil {
		f.observe(e.name, outcome)
	}
	if err == nil || ok {
		e.note(failed, time.Now())
	}
	return f.next(m, err)
}

// choose returns the provider of an attempt, counted from 1.
func (f *failover) choose(attempt int, now time.Time) *failoverEntry {
	first := max(0, attempt-1) % len(f.entries)
	var paused []*failoverEntry
	for i := range f.entries {
		e := f.entries[(first+i)%len(f.entries)]
		if e.ready(now) {
			return e
		}
		paused = append(paused, e)
	}
	return slices.MinFunc(paused, func(a, b *failoverEntry) int { return a.pauseEnd().Compare(b.pauseEnd()) })
}

// next completes the error of an attempt. A refusal counts as temporary while another
// provider may take the message, unless it is about the number. At the end of a round of
// attempts, that is a provider with an outage, which has refused nothing.
func (f *failover) next(m Message, err error) error {
	failed, ok := errors.AsType[*message.SendError](err)
	if !ok {
		return err
	}
	aboutNumber := slices.Contains([]message.Cause{message.CauseUnknownNumber, message.CauseNotMobile, message.CauseOptedOut}, failed.Cause)
	if failed.Permanent && aboutNumber {
		return err
	}
	roundEnds := m.Attempt%len(f.entries) == 0
	if roundEnds && !slices.ContainsFunc(f.entries, (*failoverEntry).paused) {
		return err
	}
	again := *failed
	again.Permanent, again.Next = false, !roundEnds
	return &again
}

// ready reports whether no pause holds e. At the end of a pause it returns true once, and the
// pause goes on until that attempt succeeds.
func (e *failoverEntry) ready(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pausedUntil.IsZero() {
		return true
	}
	if now.Before(e.pausedUntil) {
		return false
	}
	e.pausedUntil = now.Add(pause)
	return true
}

// paused reports whether e had an outage and no attempt through it succeeded since.
func (e *failoverEntry) paused() bool { return !e.pauseEnd().IsZero() }

func (e *failoverEntry) pauseEnd() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.pausedUntil
}

// note stores what the result of an attempt says about the provider. failed is nil after a
// success.
func (e *failoverEntry) note(failed *message.SendError, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case failed == nil || !failed.Outage:
		e.pausedUntil = time.Time{}
	case failed.Wait > 0:
		e.pausedUntil = now.Add(failed.Wait)
	default:
		e.pausedUntil = now.Add(pause)
	}
}
