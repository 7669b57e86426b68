package notice

import (
	"context"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store"
)

const (
	// MaxAccountStreams is how many streams an account may have in all processes together. One more
	// ends the oldest.
	MaxAccountStreams = 10
	// StreamsRenewed is how often a process renews its last-seen time.
	StreamsRenewed = 20 * time.Second
	// StreamsExpire is how long after its last-seen time the streams of a process no
	// longer count.
	StreamsExpire = 3 * StreamsRenewed
	// StreamProcessesKept is how long a process is kept after its last-seen time.
	StreamProcessesKept = 24 * time.Hour
)

// OpenedStream is a stream that the database knows.
type OpenedStream struct {
	ID, AccountID string
	// Process is the process that writes the stream.
	Process string
	// SessionID is the session whose end ends the stream.
	SessionID string
	// Slot is the number of the stream among the streams of the account, below MaxAccountStreams.
	Slot int
	// OpenedAt orders the streams of an account. EndsAt is when the stream ends at the latest.
	OpenedAt, EndsAt time.Time
}

// StreamState says whether a stream may continue and what it has to send.
type StreamState struct {
	// Live is true while the session is valid for the account in that role and no newer
	// stream of the account has replaced this one.
	Live bool
	// Seq is the Seq of the account's newest notification, or 0.
	Seq int64
	// Players is the number of players that name the account; 0 for a coach.
	Players int
}

// Streams opens the notification streams of this process. The database limits the streams of
// an account over all processes, the Hub the streams of this process.
type Streams struct {
	Hub *Hub
	DB  *store.DB
	// Process is the id of this process.
	Process string

	mu        sync.Mutex
	renewedAt time.Time
	unclosed  []OpenedStream     // closed streams whose slot the database did not free
	open      map[string]*Stream // by id
}

// Stream is an open stream. Woken receives a value when its state has changed.
type Stream struct {
	*Subscription
	streams *Streams
	opened  OpenedStream
	// read: state was read. Both are guarded by streams.mu.
	read  bool
	state StreamState
}

// Open opens a stream of the caller that ends at endsAt at the latest, and reads its state. The caller must call
// Close. It returns overloaded if this process has too many streams.
func (s *Streams) Open(ctx context.Context, by actor.Actor, endsAt time.Time) (*Stream, error) {
	sub, err := s.Hub.Subscribe(by.AccountID)
	if err != nil {
		return nil, err
	}
	st := &Stream{Subscription: sub, streams: s, opened: OpenedStream{
		ID: s.DB.NewID(), AccountID: by.AccountID, Process: s.Process, SessionID: by.SessionID, OpenedAt: s.DB.Now(), EndsAt: endsAt,
	}}
	var replaced string
	err = s.renewIfDue(ctx)
	if err == nil {
		st.opened.Slot, replaced, err = OpenStream(ctx, s.DB, st.opened)
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	s.Hub.name(sub, st.opened.ID)
	s.Hub.end(by.AccountID, replaced)
	s.mu.Lock()
	if s.open == nil {
		s.open = map[string]*Stream{}
	}
	s.open[st.opened.ID] = st
	s.mu.Unlock()
	if err := s.readFirst(ctx, st); err != nil {
		st.Close()
		return nil, err
	}
	return st, nil
}

// State returns the state of the stream that was read last.
func (st *Stream) State() StreamState {
	st.streams.mu.Lock()
	defer st.streams.mu.Unlock()
	return st.state
}

// Close ends the stream and frees its slot. If the database does not respond, Renew frees it
// later. When the process stops, End frees all slots instead.
func (st *Stream) Close() {
	s := st.streams
	s.mu.Lock()
	delete(s.open, st.opened.ID)
	s.mu.Unlock()
	if st.Subscription.Close(); s.Hub.Closed() {
		return
	}
	if err := CloseStream(context.Background(), s.DB, st.opened); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unclosed = append(s.unclosed, st.opened)
	}
}

// Renew renews the last-seen time of this process, if it has streams, and frees the slots of streams that the
// database did not free when they closed.
func (s *Streams) Renew(ctx context.Context) error {
	if s.Hub.Streams() == 0 && !s.hasUnclosed() {
		return nil
	}
	if err := RenewStreams(ctx, s.DB, s.Process); err != nil {
		return err
	}
	s.mu.Lock()
	s.renewedAt = s.DB.Now()
	unclosed := s.unclosed
	s.unclosed = nil
	s.mu.Unlock()
	for i, o := range unclosed {
		if o.EndsAt.Before(s.DB.Now()) {
			continue
		}
		if err := CloseStream(ctx, s.DB, o); err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.unclosed = append(s.unclosed, unclosed[i:]...)
			return err
		}
	}
	return nil
}

func (s *Streams) hasUnclosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.unclosed) > 0
}

// renewIfDue saves that this process runs before it has its first stream.
func (s *Streams) renewIfDue(ctx context.Context) error {
	s.mu.Lock()
	due := s.DB.Now().Sub(s.renewedAt) >= StreamsRenewed
	s.mu.Unlock()
	if !due {
		return nil
	}
	return s.Renew(ctx)
}

// End removes the last-seen time, so that the streams of this process no longer count. Call it
// when all have ended.
func (s *Streams) End(ctx context.Context) error { return EndStreams(ctx, s.DB, s.Process) }
