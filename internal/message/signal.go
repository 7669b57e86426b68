package message

// QueueSignal wakes the lanes of this process's outbox after a commit that queued a
// delivery. It is safe for concurrent use.
type QueueSignal struct {
	lanes []Lane
	woken map[Lane]chan struct{}
}

// NewQueueSignal returns a QueueSignal for the lanes of the channels.
func NewQueueSignal(channels ...Channel) *QueueSignal {
	s := &QueueSignal{woken: map[Lane]chan struct{}{}}
	for _, channel := range channels {
		for _, lane := range channel.Lanes() {
			s.lanes = append(s.lanes, lane)
			s.woken[lane] = make(chan struct{}, 1)
		}
	}
	return s
}

// Wake wakes a lane. It never blocks. Wakes are merged; lanes without a sender in this
// process are ignored.
func (s *QueueSignal) Wake(lane Lane) {
	select {
	case s.woken[lane] <- struct{}{}:
	default: // a wake is pending, or the lane is unknown
	}
}

// Woken receives a value after Wake.
func (s *QueueSignal) Woken(lane Lane) <-chan struct{} { return s.woken[lane] }

// Lanes returns the lanes that can be woken.
func (s *QueueSignal) Lanes() []Lane { return s.lanes }
