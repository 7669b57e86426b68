package notice

import (
	"context"
	"maps"
	"slices"
	"time"
)

const (
	// StreamPoll is how often Run looks for accounts to read while announcements of other replicas may be missing.
	StreamPoll = 500 * time.Millisecond
	// pollsWhileListening is how many StreamPolls pass between two reads of all streams while this process
	// receives the announcements of the others: a session that ends elsewhere is noticed that late.
	pollsWhileListening = 4
	// maxFailedReads is how many reads of all streams may fail before the streams end. They send nothing meanwhile.
	maxFailedReads = 5
	// readPause is the shortest time between two reads of woken accounts. It limits their number to ten a second.
	readPause = 100 * time.Millisecond
	// maxWokenRead is how many woken accounts one statement reads. If there are more, it reads all.
	maxWokenRead = 64
)

// Run reads the states of the streams of this process until ctx ends, with one statement for all of
// them: at ticks of poll, which come every StreamPoll, and of woken accounts at once.
func (s *Streams) Run(ctx context.Context, poll <-chan time.Time) {
	polls, failed := 0, 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll:
			if polls++; s.DB.Announced() && polls < pollsWhileListening {
				continue
			}
			polls = 0
			if failed++; s.read(ctx, nil) == nil {
				failed = 0
			}
			if failed == maxFailedReads {
				s.endAll()
			}
		case <-s.Hub.unread():
			woken := s.Hub.takeWoken()
			if len(woken) > maxWokenRead {
				woken = nil
			}
			_ = s.read(ctx, woken) // the next poll reads what this one missed
			select {
			case <-ctx.Done():
				return
			case <-time.After(readPause):
			}
		}
	}
}

// read reads the states of the open streams of these accounts, or of all for nil, and wakes those whose
// state has changed.
func (s *Streams) read(ctx context.Context, accounts map[string]bool) error {
	s.mu.Lock()
	var open []*Stream
	for _, st := range s.open {
		if accounts == nil || accounts[st.opened.AccountID] {
			open = append(open, st)
		}
	}
	s.mu.Unlock()
	if len(open) == 0 {
		return nil
	}
	states, err := ReadStreamStates(ctx, s.DB, s.Process, slices.Collect(maps.Keys(accounts)))
	if err != nil {
		return err
	}
	s.set(open, states)
	return nil
}

// endAll ends the open streams.
func (s *Streams) endAll() {
	s.mu.Lock()
	open := slices.Collect(maps.Values(s.open))
	s.mu.Unlock()
	s.set(open, nil)
}

// set sets the states of streams and wakes those whose state has changed.
func (s *Streams) set(open []*Stream, states map[string]StreamState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range open {
		if state := states[st.opened.ID]; !st.read || state != st.state {
			st.state, st.read = state, true
			st.signal()
		}
	}
}

// readFirst reads the state of a new stream. If Run has read it meanwhile, that state may be newer.
func (s *Streams) readFirst(ctx context.Context, st *Stream) error {
	states, err := ReadStreamStates(ctx, s.DB, s.Process, []string{st.opened.AccountID})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !st.read {
		st.state, st.read = states[st.opened.ID], true
	}
	return nil
}
