package ratelimit

// Remembered is how many addresses the limiter holds.
func (l *Limiter) Remembered() int { return l.limiters.Len() }
