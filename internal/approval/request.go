package approval

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/phone"
)

// RequestState is where one request for approval stands.
type RequestState string

// The states of a request. It never expires; only its links do.
const (
	RequestPending   RequestState = "pending"
	RequestApproved  RequestState = "approved"
	RequestRejected  RequestState = "rejected"
	RequestCancelled RequestState = "cancelled"
	RequestDisputed  RequestState = "disputed"
)

// Channel is a way by which a request reaches its party.
type Channel string

// The channels that this release can use.
const (
	InApp Channel = "in_app"
	SMS   Channel = "sms"
)

// DefaultChannels carry a request for which the coach named none.
var DefaultChannels = []Channel{InApp, SMS}

// Request is one question to one party. At most one is open for each party.
type Request struct {
	ID       string
	PlayerID string
	CoachID  string
	Party    actor.Role
	// PartyID is the account that was asked. Empty in a request that is about
	// to be saved with a new contact: the store fills it.
	PartyID     string
	State       RequestState
	Channels    []Channel
	RequestedAt time.Time
	LastSentAt  time.Time
	// DeliveryFailed says that the last message out of the app failed for good.
	DeliveryFailed bool
	ClosedAt       time.Time
	// Deliveries are loaded where a request is answered whole, oldest first.
	Deliveries []Delivery
}

// ResendAllowedAt is from when r may go out again: after the wait, or at once
// where its delivery failed for good; zero once it is no longer open.
func (r *Request) ResendAllowedAt(rules Rules) time.Time {
	switch {
	case r.State != RequestPending:
		return time.Time{}
	case r.DeliveryFailed:
		return r.LastSentAt
	}
	return r.LastSentAt.Add(rules.ResendAfter)
}

// Delivery is one attempt to reach the party by one channel.
type Delivery struct {
	Channel Channel
	State   string // queued, sent, delivered, failed
	// Reason says why it waits or failed; empty where there is nothing to say.
	Reason string
	At     time.Time
}

// Change is what must be saved with a player, all or nothing. The zero Change
// saves nothing at all.
type Change struct {
	// Save says that the player itself changed.
	Save bool
	// History is the decision to record, or nil.
	History *Record
	// Opened are new requests, one at most for each party.
	Opened []*Request
	// Closed are requests that ended; their state says how.
	Closed []*Request
	// Resent are open requests that go out again.
	Resent []*Request
	// Send are the messages to queue.
	Send []Message
	// Explicit says that the coach asked for the messages themselves: where the
	// coach's tier has no more for today, nothing is saved and that is the answer.
	// Messages that follow from something else wait then.
	Explicit bool
	// Reminded is the party that used up one of its reminders; empty for none.
	Reminded actor.Role
	// Dispute is the request whose party wants no more of them, or nil.
	Dispute *Request
	// Lift is the party whose dispute ends; empty for none.
	Lift actor.Role
	// Forget names accounts whose notifications about the player go.
	ForgetNotifications []string
	Events              []event.Event
}

// Message is one delivery to queue: a request's question or its reminder.
type Message struct {
	Request *Request
	Channel Channel
	To      phone.Number
	Kind    string // MessageRequest or MessageReminder
	// Unreachable messages are recorded as failed: no SMS goes to that country.
	Unreachable bool
	// Spared messages are recorded as sent, for a test number gets no SMS.
	Suppressed bool
}

// The kinds of Message.
const (
	MessageRequest  = "request"
	MessageReminder = "reminder"
)

// Record is one line of the approval history (spec section 2.3).
type Record struct {
	ID         string
	PlayerID   string
	Party      actor.Role
	ApproverID string
	Action     Trigger
	Reason     string
	RequestID  string
	At         time.Time
}
