package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// newTimeout is how long a connection may be open without a word before a stop
// takes it for one that was made in advance, as browsers do.
const newTimeout = 5 * time.Second

// connections knows which connections owe somebody an answer. http.Server's own
// Shutdown is not enough: it leaves without one whoever's request is just being
// read.
type connections struct {
	mu sync.Mutex
	// busy holds those that have begun a request, with the zero time, and those
	// that are new, with when they were made.
	busy map[net.Conn]time.Time
}

// note is an http.Server's ConnState.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.busy == nil {
			c.busy = map[net.Conn]time.Time{}
		}
		c.busy[conn] = time.Now()
	case http.StateActive:
		c.busy[conn] = time.Time{}
	default:
		delete(c.busy, conn)
	}
}

// quiet says whether nobody waits for an answer.
func (c *connections) quiet() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, made := range c.busy {
		if made.IsZero() || time.Since(made) < newTimeout {
			return false
		}
	}
	return true
}

// wait waits until every request has its answer, or ctx ends.
func (c *connections) wait(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !c.quiet() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
