package message

import (
	"context"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
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
	// Slot is the number of the stream among the streams of the account, below MaxAccountStreams.
	Slot int
	// OpenedAt orders the streams of an account. EndsAt is when the stream ends at the latest.
	OpenedAt, EndsAt time.Time
}

// StreamStore stores the open streams of all processes. Package store implements it.
type StreamStore interface {
	// OpenStream saves the stream in a slot of its account: one that is free, else one whose
	// stream has ended or whose process no longer renews it, else the slot of the oldest stream. It
	// returns the slot and the id of the stream that it replaced, or "". It returns overloaded
	// if too many streams of the account open at the same time.
	OpenStream(ctx context.Context, o OpenedStream) (slot int, replaced string, err error)
	// CloseStream frees the slot of the stream if it still has it.
	CloseStream(ctx context.Context, o OpenedStream) error
	// RenewStreams renews the last-seen time of a process.
	RenewStreams(ctx context.Context, process string) error
	// EndStreams removes the last-seen time of a process.
	EndStreams(ctx context.Context, process string) error
	// StreamState reads the state of a stream in one statement.
	StreamState(ctx context.Context, o OpenedStream, sessionID string, role actor.Role, now time.Time) (StreamState, error)
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
	Hub   *Hub
	Store StreamStore
	// Process is the id of this process.
	Process string
	Now     func() time.Time
	NewID   func() string

	mu        sync.Mutex
	renewedAt time.Time
	unclosed  []OpenedStream // closed streams whose slot the database did not free
}

// Stream is an open stream.
type Stream struct {
	*Subscription
	streams *Streams
	by      actor.Actor
	opened  OpenedStream
}

// Open opens a stream of the caller that ends at endsAt at the latest. The caller must call
// Close. It returns overloaded if this process has too many streams.
func (s *Streams) Open(ctx context.Context, by actor.Actor, endsAt time.Time) (*Stream, error) {
	sub, err := s.Hub.Subscribe(by.AccountID)
	if err != nil {
		return nil, err
	}
	st := &Stream{Subscription: sub, streams: s, by: by, opened: OpenedStream{
		ID: s.NewID(), AccountID: by.AccountID, Process: s.Process, OpenedAt: s.Now(), EndsAt: endsAt,
	}}
	var replaced string
	if err = s.renewIfDue(ctx); err == nil {
		st.opened.Slot, replaced, err = s.Store.OpenStream(ctx, st.opened)
	}
	if err != nil {
		sub.Close()
		return nil, err
	}
	s.Hub.name(sub, st.opened.ID)
	s.Hub.end(by.AccountID, replaced)
	return st, nil
}

// State returns the state of the stream.
func (st *Stream) State(ctx context.Context) (StreamState, error) {
	return st.streams.Store.StreamState(ctx, st.opened, st.by.SessionID, st.by.Role, st.streams.Now())
}

// Close ends the stream and frees its slot. If the database does not respond, Renew frees it
// later. When the process stops, End frees all slots instead.
func (st *Stream) Close() {
	s := st.streams
	if st.Subscription.Close(); s.Hub.Closed() {
		return
	}
	if err := s.Store.CloseStream(context.Background(), st.opened); err != nil {
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
	if err := s.Store.RenewStreams(ctx, s.Process); err != nil {
		return err
	}
	s.mu.Lock()
	s.renewedAt = s.Now()
	unclosed := s.unclosed
	s.unclosed = nil
	s.mu.Unlock()
	for i, o := range unclosed {
		if o.EndsAt.Before(s.Now()) {
			continue
		}
		if err := s.Store.CloseStream(ctx, o); err != nil {
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
	due := s.Now().Sub(s.renewedAt) >= StreamsRenewed
	s.mu.Unlock()
	if !due {
		return nil
	}
	return s.Renew(ctx)
}

// End removes the last-seen time, so that the streams of this process no longer count. Call it
// when all have ended.
func (s *Streams) End(ctx context.Context) error { return s.Store.EndStreams(ctx, s.Process) }

// ErrStreamsBusy refuses a stream because too many of its account open at the same time.
func ErrStreamsBusy() error {
	return fault.Overloaded("Too many streams of this account open at the same time. Try again.").After(time.Second)
}
