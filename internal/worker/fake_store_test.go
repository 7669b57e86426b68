package worker_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/notify"
)

// email is a second channel, to show that nothing depends on SMS.
const email notify.Channel = "email"

// lane returns the SMS lane of a kind.
func lane(kind notify.Kind) notify.Lane { return notify.Lane{Channel: notify.SMS, Kind: kind} }

// fakeStore is an outbox in memory that respects leases as the store does.
type fakeStore struct {
	mu       sync.Mutex
	rows     []*row
	claimErr error
	// gathers: the claimed requests are one message.
	gathers bool
	// rejections is how often AdmitMessages still holds a message.
	rejections int
	// closed are the requests that are no longer open.
	closed map[string]bool
	// copies are the notifications of deliveries, by delivery id.
	copies map[string]notify.Copy
	// recipient gets every message that is no OTP.
	recipient notify.Recipient
}

type row struct {
	notify.Delivery
	state, reason string
	due           time.Time
	retries       []time.Time // the due times of RetryDelivery
	renewed       time.Time   // when RenewLinks was called
}

func (s *fakeStore) queue(kind notify.Kind) *row { return s.queueOn(lane(kind)) }

func (s *fakeStore) queueOn(lane notify.Lane) *row {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &row{state: "queued", due: time.Now(), Delivery: notify.Delivery{
		ID: fmt.Sprint(len(s.rows)), Lane: lane, To: "+919812300001", GivesUpAt: time.Now().Add(24 * time.Hour),
	}}
	r.RequestID = "request of " + r.ID
	s.rows = append(s.rows, r)
	return r
}

func (s *fakeStore) LanesDue(_ context.Context, lanes []notify.Lane, now time.Time) ([]notify.Lane, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []notify.Lane
	for _, lane := range lanes {
		if slices.ContainsFunc(s.rows, func(r *row) bool { return r.Lane == lane && r.state == "queued" && !r.due.After(now) }) {
			due = append(due, lane)
		}
	}
	return due, nil
}

func (s *fakeStore) ClaimDeliveries(_ context.Context, lane notify.Lane, lease string, until time.Time, n int) ([]notify.Delivery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var claimed []notify.Delivery
	for _, r := range s.rows {
		if s.claimErr == nil && len(claimed) < n && r.state == "queued" && r.Lane == lane && !r.due.After(time.Now()) {
			r.Lease, r.due = lease, until
			r.Attempts++
			claimed = append(claimed, r.Delivery)
		}
	}
	return claimed, s.claimErr
}

func (s *fakeStore) LiveChallenge(_ context.Context, d notify.Delivery, _ int) (c auth.Challenge, holdsRole, live bool, err error) {
	return auth.Challenge{ID: d.ChallengeID, EndsAt: d.GivesUpAt}, true, true, nil
}

func (s *fakeStore) RequestDetails(_ context.Context, d notify.Delivery) (notify.RequestDetails, notify.Recipient, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return notify.RequestDetails{Party: "guardian", CoachName: "Meera", StudentName: "Asha"}, s.recipient, !s.closed[d.RequestID], nil
}

func (s *fakeStore) NotificationCopy(_ context.Context, d notify.Delivery) (notify.Copy, notify.Recipient, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, found := s.copies[d.ID]
	return c, s.recipient, found, nil
}

func (s *fakeStore) TeamMessage(context.Context, notify.Delivery) (notify.TeamMessage, notify.Recipient, string, error) {
	return notify.TeamMessage{CoachName: "Meera", Text: "Training is at 5."}, notify.Recipient{}, "", nil
}

func (s *fakeStore) MarkSending(_ context.Context, messages []notify.Outgoing) ([]notify.Outgoing, error) {
	return messages, nil
}

func (s *fakeStore) RenewLinks(_ context.Context, leaving []notify.Delivery) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range leaving {
		s.claimed(d).renewed = time.Now()
	}
	return nil
}

func (s *fakeStore) AdmitMessages(_ context.Context, messages []notify.Outgoing) ([]notify.Outgoing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var admitted []notify.Outgoing
	for _, m := range messages {
		s.rejections--
		for _, d := range m.Deliveries {
			if r := s.claimed(d); s.rejections < 0 {
				r.Counted = true
			} else {
				r.due, r.Lease = time.Now().Add(time.Hour), ""
			}
		}
		if s.rejections < 0 {
			admitted = append(admitted, m)
		}
	}
	return admitted, nil
}

func (s *fakeStore) WakeHeld(context.Context) error { return nil }

// claimed returns the row of d if d still holds its lease.
func (s *fakeStore) claimed(d notify.Delivery) *row {
	for _, r := range s.rows {
		if r.ID == d.ID && r.Lease == d.Lease && r.state == "queued" {
			return r
		}
	}
	return new(row)
}

func (s *fakeStore) GatherRequests(_ context.Context, claimed []notify.Delivery, _ time.Time) ([][]notify.Delivery, error) {
	if s.gathers {
		return [][]notify.Delivery{claimed}, nil
	}
	var messages [][]notify.Delivery
	for _, d := range claimed {
		messages = append(messages, []notify.Delivery{d})
	}
	return messages, nil
}

func (s *fakeStore) complete(message []notify.Delivery, state, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range message {
		r := s.claimed(d)
		r.state, r.reason = state, reason
	}
	return nil
}

func (s *fakeStore) DeliverySent(_ context.Context, message []notify.Delivery) error {
	return s.complete(message, "sent", "")
}

func (s *fakeStore) DeliverySuppressed(_ context.Context, message []notify.Delivery) error {
	return s.complete(message, "sent", "suppressed")
}

func (s *fakeStore) DeliveryDropped(_ context.Context, message []notify.Delivery, reason string) error {
	return s.complete(message, "dropped", reason)
}

func (s *fakeStore) DeliveryFailed(_ context.Context, message []notify.Delivery, reason string, _ notify.Cause) error {
	return s.complete(message, "failed", reason)
}

func (s *fakeStore) AwaitStatus(_ context.Context, message []notify.Delivery, until time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range message {
		r := s.claimed(d)
		r.due, r.AwaitsStatus, r.Lease = until, true, ""
	}
	return nil
}

func (s *fakeStore) FallBack(_ context.Context, message []notify.Delivery, to notify.Channel) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range message {
		r := s.claimed(d)
		r.Channel, r.due, r.AwaitsStatus, r.Attempts, r.Lease = to, time.Now(), false, 0, ""
	}
	return nil
}

func (s *fakeStore) PostponeDelivery(_ context.Context, message []notify.Delivery, until time.Time, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range message {
		r := s.claimed(d)
		r.due, r.reason, r.Lease = until, reason, ""
	}
	return nil
}

func (s *fakeStore) RetryDelivery(_ context.Context, message []notify.Delivery, due time.Time, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range message {
		r := s.claimed(d)
		r.due, r.reason = due, reason
		r.retries = append(r.retries, due)
	}
	return nil
}

func (s *fakeStore) state(r *row) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.state
}

// fakeSender is a Sender. Numbers in suppressed get no message.
type fakeSender struct {
	send       func(ctx context.Context, m notify.Message) error
	suppressed []string
}

func (s fakeSender) Send(ctx context.Context, m notify.Message) error { return s.send(ctx, m) }

func (s fakeSender) Segments(notify.Message) int { return 1 }

func (s fakeSender) Suppressed(to string) bool { return slices.Contains(s.suppressed, to) }
