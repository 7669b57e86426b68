package scan

import "time"

// WithIdleTimeout returns a copy of c that waits at most limit for each read or
// write. The default is 30 s.
func (c *Clamd) WithIdleTimeout(limit time.Duration) *Clamd {
	return &Clamd{c.network, c.address, limit}
}
