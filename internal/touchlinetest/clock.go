package touchlinetest

import (
	"sync/atomic"
	"time"
)

// Clock is the clock of a service under test: the system clock plus an offset.
type Clock struct{ offset atomic.Int64 }

// Now returns the time of the service.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

// Advance moves the clock forward by d.
func (c *Clock) Advance(d time.Duration) { c.offset.Add(int64(d)) }
