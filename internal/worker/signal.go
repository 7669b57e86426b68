package worker

// Signal wakes a job of this process after a commit that gave it work. It is safe for
// concurrent use.
type Signal struct{ woken chan struct{} }

// NewSignal returns a Signal.
func NewSignal() *Signal { return &Signal{make(chan struct{}, 1)} }

// Wake wakes the job. It never blocks, and wakes are merged.
func (s *Signal) Wake() {
	select {
	case s.woken <- struct{}{}:
	default: // a wake is pending
	}
}
