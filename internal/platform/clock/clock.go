// Package clock owns a clock that can be moved forward, with tickers that follow it: that of tests, and of a service for development.
package clock

import (
	"sync"
	"time"
)

// Clock is another clock plus an offset. The zero value shows the time of the system. It is safe for concurrent use.
type Clock struct {
	// Base is the other clock; nil is that of the system.
	Base    func() time.Time
	mu      sync.Mutex
	offset  time.Duration
	tickers map[*ticker]struct{}
}

type ticker struct {
	period time.Duration
	next   time.Time
	ticks  chan time.Time
	timer  *time.Timer
}

// Now returns the time in UTC.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().UTC()
}

func (c *Clock) now() time.Time {
	if c.Base != nil {
		return c.Base().Add(c.offset)
	}
	return time.Now().Add(c.offset)
}

// Advance moves the clock forward by d. Tickers that are due then tick once, at once.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
	for t := range c.tickers {
		c.tick(t)
	}
}

// Skip moves the clock forward by d without a tick, for tests that background work would
// disturb.
func (c *Clock) Skip(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
	for t := range c.tickers {
		t.next = t.next.Add(d)
	}
}

// Pass moves the clock forward by d, a second at a time. Before each further second it
// waits until the workers and streams have taken their ticks, at most a second.
func (c *Clock) Pass(d time.Duration) {
	for ; d > 0; d -= time.Second {
		c.Advance(min(d, time.Second))
		for end := time.Now().Add(time.Second); c.ticksPending() && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}
}

// NewTicker returns a ticker that follows the clock; see worker.NewTicker.
func (c *Clock) NewTicker(period time.Duration) (ticks <-chan time.Time, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &ticker{period: period, next: c.now().Add(period), ticks: make(chan time.Time, 1)}
	t.timer = time.AfterFunc(period, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.tick(t)
	})
	if c.tickers == nil {
		c.tickers = map[*ticker]struct{}{}
	}
	c.tickers[t] = struct{}{}
	return t.ticks, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.tickers, t)
		t.timer.Stop()
	}
}

// tick sends a tick if t is due, and sets the timer for the next. The caller holds c.mu.
func (c *Clock) tick(t *ticker) {
	if _, running := c.tickers[t]; !running {
		return
	}
	now := c.now()
	if !now.Before(t.next) {
		select {
		case t.ticks <- now:
		default: // like a time.Ticker, drop ticks for a slow receiver
		}
		t.next = now.Add(t.period)
	}
	t.timer.Reset(t.next.Sub(now))
}

// ticksPending reports whether a ticker has a tick that nothing has received yet.
func (c *Clock) ticksPending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for t := range c.tickers {
		if len(t.ticks) > 0 {
			return true
		}
	}
	return false
}
