package demo

import (
	"sync/atomic"
	"time"
)

// Clock is the clock of the service. It is behind the system clock while Build runs.
type Clock struct{ behind atomic.Int64 }

// Now returns the time of the service.
func (c *Clock) Now() time.Time { return time.Now().Add(-time.Duration(c.behind.Load())) }

// setBehind sets how far the clock is behind the system clock. The time must not go back.
func (c *Clock) setBehind(d time.Duration) { c.behind.Store(int64(d)) }
