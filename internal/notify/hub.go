package notify

import "sync"

// maxStreams is how many streams an account may hold in one process; one more
// ends the oldest.
const maxStreams = 10

// Hub wakes the streams of this process at once when there may be something new.
// It holds nothing that would be missed: what it does not wake, asks by itself.
// The zero Hub is ready; it is safe for concurrent use.
type Hub struct {
	mu      sync.Mutex
	closed  bool
	streams map[string][]*Subscription // by account, oldest first
}

// Subscription is one stream's line to the Hub.
type Subscription struct {
	hub     *Hub
	account string
	wake    chan struct{}
	done    chan struct{}
}

// Woken gets a value when there may be something new; several wakes are one.
func (s *Subscription) Woken() <-chan struct{} { return s.wake }

// Done is closed when the stream has to end.
func (s *Subscription) Done() <-chan struct{} { return s.done }

// Subscribe opens a line for a stream of the account; Close must follow.
func (h *Hub) Subscribe(accountID string) *Subscription {
	s := &Subscription{hub: h, account: accountID, wake: make(chan struct{}, 1), done: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(s.done)
		return s
	}
	if h.streams == nil {
		h.streams = map[string][]*Subscription{}
	}
	if of := h.streams[accountID]; len(of) == maxStreams {
		h.end(of[0])
	}
	h.streams[accountID] = append(h.streams[accountID], s)
	return s
}

// Close ends the line.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.end(s)
}

// end takes s out; the caller holds the lock. It may have been ended before.
func (h *Hub) end(s *Subscription) {
	of := h.streams[s.account]
	for i, other := range of {
		if other != s {
			continue
		}
		close(s.done)
		if len(of) == 1 {
			delete(h.streams, s.account)
			return
		}
		h.streams[s.account] = append(append([]*Subscription{}, of[:i]...), of[i+1:]...)
		return
	}
}

// Wake wakes every stream of the accounts.
func (h *Hub) Wake(accountIDs ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range accountIDs {
		for _, s := range h.streams[id] {
			select {
			case s.wake <- struct{}{}:
			default: // it is about to look anyway
			}
		}
	}
}

// Close ends every stream and lets no other begin; a shutdown calls it.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, of := range h.streams {
		for _, s := range of {
			close(s.done)
		}
	}
	h.streams = nil
}
