package ratelimit

// Remembered is how many addresses the limiter holds.
func (l *Limiter) Remembered() int { return len(l.young) + len(l.previous) }
