package ratelimit

// Len returns the number of addresses that the limiter holds.
func (l *Limiter) Len() int { return l.limiters.Len() }
