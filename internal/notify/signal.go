package notify

import "time"

// QueueSignal wakes the lanes of this process's outbox after a commit that queued a
// delivery. It is safe for concurrent use.
type QueueSignal struct {
	lanes []Lane
	woken map[Lane]chan time.Time
}

// NewQueueSignal returns a QueueSignal for the lanes of the channels.
func NewQueueSignal(channels ...Channel) *QueueSignal {
	s := &QueueSignal{woken: map[Lane]chan time.Time{}}
	for _, channel := range channels {
		for _, lane := range channel.Lanes() {
			s.lanes = append(s.lanes, lane)
			s.woken[lane] = make(chan time.Time, 1)
		}
	}
	return s
}

// Wake wakes a lane for all its due deliveries: see WakeFrom.
func (s *QueueSignal) Wake(lane Lane) { s.WakeFrom(lane, time.Time{}) }

// WakeFrom wakes a lane for the deliveries that are due at from or later. It never blocks.
// Pending wakes are merged: the earliest time counts. Lanes without a sender in this process
// are ignored.
func (s *QueueSignal) WakeFrom(lane Lane, from time.Time) {
	woken, known := s.woken[lane]
	for known {
		select {
		case woken <- from:
			return
		default:
		}
		select {
		case pending := <-woken:
			if pending.Before(from) {
				from = pending
			}
		default: // the lane received it
		}
	}
}

// Woken receives the earliest time of the wakes since it last received one.
func (s *QueueSignal) Woken(lane Lane) <-chan time.Time { return s.woken[lane] }

// Lanes returns the lanes that can be woken.
func (s *QueueSignal) Lanes() []Lane { return s.lanes }
