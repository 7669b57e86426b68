package touchlinetest

import (
	"sync/atomic"
	"time"
)

// Clock is the time of a service under test: the real one, moved.
type Clock struct{ ahead atomic.Int64 }

// Now returns the time as the service sees it.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Advance moves the clock on.
func (c *Clock) Advance(d time.Duration) { c.ahead.Add(int64(d)) }
