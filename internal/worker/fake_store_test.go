package worker_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/worker"
)

// email is a second channel, to show that nothing depends on SMS.
const email message.Channel = "email"

// lane returns the SMS lane of a kind.
func lane(kind message.Kind) message.Lane { return message.Lane{Channel: message.SMS, Kind: kind} }

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
	copies map[string]message.Copy
	// recipient gets every message that is no OTP.
	recipient message.Recipient
}

type row struct {
	message.Delivery
	state, reason string
	due           time.Time
	retries       []time.Time // the due times of RetryDelivery
	renewed       time.Time   // when RenewLinks was called
}

func (s *fakeStore) queue(kind message.Kind) *row { return s.queueOn(lane(kind)) }

func (s *fakeStore) queueOn(lane message.Lane) *row {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &row{state: "queued", due: time.Now(), Delivery: message.Delivery{
		ID: fmt.Sprint(len(s.rows)), Lane: lane, To: "+919812300001", GivesUpAt: time.Now().Add(24 * time.Hour),
	}}
	r.RequestID = "request of " + r.ID
	s.rows = append(s.rows, r)
	return r
}

func (s *fakeStore) LanesDue(_ context.Context, lanes []message.Lane, now time.Time) ([]message.Lane, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []message.Lane
	for _, lane := range lanes {
		if slices.ContainsFunc(s.rows, func(r *row) bool { return r.Lane == lane && r.state == "queued" && !r.due.After(now) }) {
			due = append(due, lane)
		}
	}
	return due, nil
}

func (s *fakeStore) ClaimDeliveries(_ context.Context, lane message.Lane, lease string, until time.Time, n int) ([]message.Delivery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var claimed []message.Delivery
	for _, r := range s.rows {
		if s.claimErr == nil && len(claimed) < n && r.state == "queued" && r.Lane == lane && !r.due.After(time.Now()) {
			r.Lease, r.due = lease, until
			r.Attempts, r.TotalAttempts = r.Attempts+1, r.TotalAttempts+1
			claimed = append(claimed, r.Delivery)
		}
	}
	return claimed, s.claimErr
}

func (s *fakeStore) LiveChallenge(_ context.Context, d message.Delivery, _ int) (c auth.Challenge, holdsRole, live bool, err error) {
	return auth.Challenge{ID: d.ChallengeID, EndsAt: d.GivesUpAt}, true, true, nil
}

func (s *fakeStore) RequestDetails(_ context.Context, d message.Delivery) (message.RequestDetails, message.Recipient, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return message.RequestDetails{Party: "guardian", CoachName: "Meera", StudentName: "Asha"}, s.recipient, !s.closed[d.RequestID], nil
}

func (s *fakeStore) NotificationCopy(_ context.Context, d message.Delivery) (message.Copy, message.Recipient, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, found := s.copies[d.ID]
	return c, s.recipient, found, nil
}

func (s *fakeStore) TeamMessage(context.Context, message.Delivery) (message.TeamMessage, message.Recipient, string, error) {
	return message.TeamMessage{CoachName: "Meera", Text: "Training is at 5."}, message.Recipient{}, "", nil
}

func (s *fakeStore) MarkSending(_ context.Context, messages []message.Outgoing) ([]message.Outgoing, error) {
	return messages, nil
}

func (s *fakeStore) RenewLinks(_ context.Context, leaving []message.Delivery) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range leaving {
		s.claimed(d).renewed = time.Now()
	}
	return nil
}

func (s *fakeStore) AdmitMessages(_ context.Context, messages []message.Outgoing) ([]message.Outgoing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var admitted []message.Outgoing
	for _, m := range messages {
		s.rejections--
		for _, d := range m.Deliveries {
			if r := s.claimed(d); s.rejections < 0 {
				r.Counted = true
			} else {
				r.due, r.Lease, r.Attempts, r.TotalAttempts = time.Now().Add(time.Hour), "", r.Attempts-1, r.TotalAttempts-1
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
func (s *fakeStore) claimed(d message.Delivery) *row {
	for _, r := range s.rows {
		if r.ID == d.ID && r.Lease == d.Lease && r.state == "queued" {
			return r
		}
	}
	return new(row)
}

func (s *fakeStore) GatherRequests(_ context.Context, claimed []message.Delivery, _ time.Time) ([][]message.Delivery, error) {
	if s.gathers {
		return [][]message.Delivery{claimed}, nil
	}
	var messages [][]message.Delivery
	for _, d := range claimed {
		messages = append(messages, []message.Delivery{d})
	}
	return messages, nil
}

func (s *fakeStore) complete(deliveries []message.Delivery, state, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range deliveries {
		r := s.claimed(d)
		r.state, r.reason = state, reason
	}
	return nil
}

func (s *fakeStore) DeliverySent(_ context.Context, deliveries []message.Delivery) error {
	return s.complete(deliveries, "sent", "")
}

func (s *fakeStore) DeliverySuppressed(_ context.Context, deliveries []message.Delivery) error {
	return s.complete(deliveries, "sent", "suppressed")
}

func (s *fakeStore) DeliveryDropped(_ context.Context, deliveries []message.Delivery, reason string) error {
	return s.complete(deliveries, "dropped", reason)
}

func (s *fakeStore) DeliveryFailed(_ context.Context, deliveries []message.Delivery, reason string, _ message.Cause) error {
	return s.complete(deliveries, "failed", reason)
}

func (s *fakeStore) AwaitStatus(_ context.Context, deliveries []message.Delivery, until time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range deliveries {
		r := s.claimed(d)
		r.due, r.AwaitsStatus, r.Lease = until, true, ""
	}
	return nil
}

func (s *fakeStore) FallBack(_ context.Context, deliveries []message.Delivery, to message.Channel) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range deliveries {
		r := s.claimed(d)
		r.Channel, r.due, r.AwaitsStatus, r.Attempts, r.Lease = to, time.Now(), false, 0, ""
	}
	return nil
}

func (s *fakeStore) PostponeDelivery(_ context.Context, deliveries []message.Delivery, until time.Time, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range deliveries {
		r := s.claimed(d)
		r.due, r.reason, r.Lease, r.Attempts, r.TotalAttempts = until, reason, "", r.Attempts-1, r.TotalAttempts-1
	}
	return nil
}

func (s *fakeStore) RetryDelivery(_ context.Context, deliveries []message.Delivery, due time.Time, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range deliveries {
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
	send       func(ctx context.Context, m message.Message) error
	suppressed []string
}

func (s fakeSender) Send(ctx context.Context, m message.Message) error { return s.send(ctx, m) }

func (s fakeSender) Segments(message.Message) int { return 1 }

func (s fakeSender) Suppressed(to string) bool { return slices.Contains(s.suppressed, to) }

// outboxStore is what an outbox needs of a database.
type outboxStore interface {
	worker.Store
	worker.Contents
}
