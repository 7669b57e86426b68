package notice

import (
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
)

// streamRetry is when an app may try again to open a stream that was refused.
const streamRetry = 30 * time.Second

// Hub wakes the notification streams of this process, or the calls of operators that wait
// for a change. The key of a stream is its account, the key of a call its operator token. A
// lost wake only delays a stream or a call: the store is also polled. The zero Hub is ready
// for use. A Hub is safe for concurrent use.
type Hub struct {
	// MaxStreams limits the streams of all accounts; 0 means no limit.
	MaxStreams int
	// KeepNewest is how many streams of one account may be open in this process: one more ends
	// the oldest. 0 means no limit.
	KeepNewest int

	mu      sync.Mutex
	closed  bool
	count   int                        // of all streams
	streams map[string][]*Subscription // by account, oldest first
	woken   map[string]bool            // accounts whose streams Streams must read

	once     sync.Once
	hasWoken chan struct{} // see unread
}

// Subscription connects one stream to the Hub.
type Subscription struct {
	hub     *Hub
	account string
	id      string // of the stream in the database, or ""
	wake    chan struct{}
	done    chan struct{}
}

// Woken receives a value when there may be new notifications. Wakes are merged.
func (s *Subscription) Woken() <-chan struct{} { return s.wake }

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // a wake is pending
	}
}

// Done is closed when the stream must end.
func (s *Subscription) Done() <-chan struct{} { return s.done }

// Subscribe adds a stream of the account. The caller must call Close. It returns
// overloaded if there are too many streams; an account that has all its streams in this
// process gets one more, because it ends one of them.
func (h *Hub) Subscribe(accountID string) (*Subscription, error) {
	s := &Subscription{hub: h, account: accountID, wake: make(chan struct{}, 1), done: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		close(s.done)
		return s, nil
	}
	if h.streams == nil {
		h.streams = map[string][]*Subscription{}
	}
	if open := h.streams[accountID]; h.KeepNewest > 0 && len(open) == h.KeepNewest {
		h.remove(open[0])
	}
	if h.MaxStreams > 0 && h.count >= h.MaxStreams && len(h.streams[accountID]) != MaxAccountStreams {
		return nil, fault.Overloaded("Too many apps wait for notifications. Read the list of notifications instead, and try again later.").
			After(streamRetry)
	}
	h.streams[accountID] = append(h.streams[accountID], s)
	h.count++
	return s, nil
}

// name sets the id of the stream in the database. From now on a wake does not signal the stream, but
// the reader of all streams.
func (h *Hub) name(s *Subscription, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.id = id
}

// unread returns the channel that receives a value when takeWoken has accounts to return.
func (h *Hub) unread() chan struct{} {
	h.once.Do(func() { h.hasWoken = make(chan struct{}, 1) })
	return h.hasWoken
}

// takeWoken returns the accounts that were woken since the last call.
func (h *Hub) takeWoken() map[string]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	woken := h.woken
	h.woken = nil
	return woken
}

// wake wakes a stream. The caller holds h.mu.
func (h *Hub) wake(s *Subscription) {
	if s.id == "" {
		s.signal()
		return
	}
	if h.woken == nil {
		h.woken = map[string]bool{}
	}
	h.woken[s.account] = true
	select {
	case h.unread() <- struct{}{}:
	default:
	}
}

// end ends the stream of the account with this id, if it is in this process.
func (h *Hub) end(accountID, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	open := h.streams[accountID]
	if i := slices.IndexFunc(open, func(s *Subscription) bool { return s.id == id }); id != "" && i >= 0 {
		h.remove(open[i])
	}
}

// Closed reports whether Close was called.
func (h *Hub) Closed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// Streams returns the number of open streams.
func (h *Hub) Streams() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}

// Close removes the stream. Closing twice is harmless.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.remove(s)
}

// remove ends s if it is still open. The caller holds h.mu.
func (h *Hub) remove(s *Subscription) {
	open := h.streams[s.account]
	i := slices.Index(open, s)
	if i < 0 {
		return
	}
	close(s.done)
	h.count--
	if len(open) == 1 {
		delete(h.streams, s.account)
		return
	}
	h.streams[s.account] = slices.Delete(open, i, i+1)
}

// Wake wakes every stream of the accounts.
func (h *Hub) Wake(accountIDs ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range accountIDs {
		for _, s := range h.streams[id] {
			h.wake(s)
		}
	}
}

// WakeAll wakes every stream.
func (h *Hub) WakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, open := range h.streams {
		for _, s := range open {
			h.wake(s)
		}
	}
}

// Close ends every stream. Streams that subscribe later end at once. The shutdown
// calls it.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, open := range h.streams {
		for _, s := range open {
			close(s.done)
		}
	}
	h.streams, h.count = nil, 0
}
