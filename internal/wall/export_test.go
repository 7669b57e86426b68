package wall

// Remembered is how many addresses the wall holds.
func (l *Wall) Remembered() int { return len(l.young) + len(l.previous) }
