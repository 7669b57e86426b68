// Package inflight limits how many requests a process handles at the same time, so that
// those it handles stay fast while more arrive than it can handle. The others wait for a
// moment or are refused (docs/decisions/0030-overload.md).
package inflight

import (
	"container/list"
	"net/http"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

const (
	// burstQueue and burstWait are how many requests wait, and how long, in a burst: the
	// queue was empty less than burstTime ago, and no request was refused for noRefusalTime.
	burstQueue    = 4000
	burstWait     = 500 * time.Millisecond
	burstTime     = 500 * time.Millisecond
	noRefusalTime = time.Second
	// Otherwise it is overload. The queue is then short, so that most requests are
	// refused at once.
	overloadQueue = 64
	overloadWait  = 300 * time.Millisecond
	// urgentQueue and urgentWait are the same for urgent requests, overloaded or not.
	urgentQueue = 1000
	urgentWait  = time.Second
)

// Limiter limits the requests in flight. It is safe for concurrent use. A nil Limiter
// admits every request.
type Limiter struct {
	fixed bool

	mu      sync.Mutex
	limit   float64
	running int
	refused uint64
	urgent  list.List // of *waiter, oldest first
	waiting list.List // of *waiter, oldest first, not urgent
	// queuedSince is when waiting was last empty, refusedAt when a request was last
	// refused.
	queuedSince, refusedAt time.Time
	window                 window
}

type waiter struct{ admitted chan struct{} }

// New returns a limiter of limit requests. If limit is 0, it adapts the limit to the
// time that requests take.
func New(limit int) *Limiter {
	if limit > 0 {
		return &Limiter{fixed: true, limit: float64(limit)}
	}
	return &Limiter{limit: initialLimit, window: window{start: time.Now()}}
}

// Slot counts one request in flight. The zero Slot counts none.
type Slot struct {
	limiter *Limiter
	start   time.Time
}

// Acquire returns a slot, which the caller must release. An urgent request comes before
// those that wait. Acquire returns overloaded if the request must not wait any longer.
func (l *Limiter) Acquire(urgent bool) (Slot, error) {
	if l == nil {
		return Slot{}, nil
	}
	l.mu.Lock()
	if l.running < int(l.limit) {
		defer l.mu.Unlock()
		return l.enter(), nil
	}
	queue, maxWait := l.queue(urgent)
	if maxWait == 0 {
		defer l.mu.Unlock()
		return Slot{}, l.refuse()
	}
	w := &waiter{admitted: make(chan struct{})}
	element := queue.PushBack(w)
	l.mu.Unlock()

	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case <-w.admitted:
		return Slot{l, time.Now()}, nil
	case <-timer.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-w.admitted: // at the same time
		return Slot{l, time.Now()}, nil
	default:
	}
	queue.Remove(element)
	return Slot{}, l.refuse()
}

// refuse counts a refused request. The caller holds l.mu.
func (l *Limiter) refuse() error {
	l.refused++
	l.refusedAt = time.Now()
	return errOverloaded
}

var errOverloaded = fault.Overloaded("The service is very busy. It has not begun your request. Try again in a few seconds.")

// queue returns the queue of a request and how long it may wait there, 0 if it may not.
func (l *Limiter) queue(urgent bool) (*list.List, time.Duration) {
	if urgent {
		if l.urgent.Len() < urgentQueue {
			return &l.urgent, urgentWait
		}
		return nil, 0
	}
	if l.fixed {
		return nil, 0
	}
	now := time.Now()
	if l.waiting.Len() == 0 {
		l.queuedSince = now
	}
	switch n := l.waiting.Len(); {
	case now.Sub(l.queuedSince) < burstTime && now.Sub(l.refusedAt) > noRefusalTime && n < burstQueue:
		return &l.waiting, burstWait
	case n < overloadQueue:
		return &l.waiting, overloadWait
	default:
		return nil, 0
	}
}

// Reenter returns a slot for a request that was admitted before and has released its
// slot, whatever the limit.
func (l *Limiter) Reenter() Slot {
	if l == nil {
		return Slot{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.enter()
}

// enter counts a request. The caller holds l.mu.
func (l *Limiter) enter() Slot {
	l.running++
	l.window.peak = max(l.window.peak, l.running)
	return Slot{l, time.Now()}
}

// Release ends the request and admits waiting requests up to the limit, urgent ones first.
// Releasing twice is harmless.
func (s *Slot) Release() {
	l := s.limiter
	if l == nil {
		return
	}
	s.limiter = nil
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	if !l.fixed {
		l.limit = l.window.observe(s.start, time.Now(), l.limit)
	}
	for _, queue := range []*list.List{&l.urgent, &l.waiting} {
		for l.running < int(l.limit) && queue.Len() > 0 {
			l.running++
			close(queue.Remove(queue.Front()).(*waiter).admitted)
		}
	}
	l.window.peak = max(l.window.peak, l.running)
}

// Stats are the current numbers of requests, and the limit.
type Stats struct {
	Running, Waiting, Limit int
	// Refused counts the requests since the start.
	Refused uint64
}

// Stats returns the current numbers.
func (l *Limiter) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{Running: l.running, Waiting: l.urgent.Len() + l.waiting.Len(), Limit: int(l.limit), Refused: l.refused}
}

// Limits are the limits of one process. Reads and writes have separate ones: on SQLite
// one write runs at a time, so writes that wait for their turn would fill a common limit,
// and reads would be refused although the process could serve them.
type Limits struct{ Reads, Writes *Limiter }

// NewLimits returns two limiters; see New.
func NewLimits(limit int) *Limits {
	return &Limits{Reads: New(limit), Writes: New(limit)}
}

// For returns the limiter of an HTTP method. That of nil Limits admits every request.
func (l *Limits) For(method string) *Limiter {
	switch {
	case l == nil:
		return nil
	case method == http.MethodGet || method == http.MethodHead:
		return l.Reads
	default:
		return l.Writes
	}
}
