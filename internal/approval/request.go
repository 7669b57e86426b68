package approval

import (
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// RequestState is the state of a request.
type RequestState string

// The states of a request. Requests never expire; only their links do.
const (
	RequestPending   RequestState = "pending"
	RequestApproved  RequestState = "approved"
	RequestRejected  RequestState = "rejected"
	RequestCancelled RequestState = "cancelled"
	RequestDisputed  RequestState = "disputed"
)

// Request asks one party for consent. Each party has at most one open request.
type Request struct {
	ID       string
	PlayerID string
	CoachID  string
	Party    actor.Role
	// GuardianID is that of the Party.
	GuardianID string
	// PartyID is the account that was asked. It is empty in a new request to a new
	// contact until the store fills it.
	PartyID string
	State   RequestState
	// ShortCode and the number of the party together find the request. The store sets it in a
	// new request, and deletes it ShortCodeReusedAfter after the request was closed.
	ShortCode   string
	Channels    []message.Channel
	RequestedAt time.Time
	LastSentAt  time.Time
	// FailedChannels are those on which the newest sending failed permanently. Each failure
	// notifies the coach. DeliveryFailed reports whether every channel that leaves the app failed.
	FailedChannels []message.Channel
	DeliveryFailed bool
	ClosedAt       time.Time
	// Via is how the party answered or disputed, or empty.
	Via actor.Via
	// FollowedUpAt is when the coach first followed up, and FollowUpNote is the note of the
	// last call. Only Store.Request and Store.Timeline load them. A follow-up sets FollowedUpAt;
	// the store keeps the first.
	FollowedUpAt time.Time
	FollowUpNote string
	// Deliveries are oldest first, if loaded.
	Deliveries []Delivery
	// Version is 1 in a new request, and grows with each change of what the party is shown while the party can answer the
	// request or could again: see Party.Question. It also grows when the proof behind a yes ends.
	// SentVersion is the version at which the request was last sent or repeated.
	Version, SentVersion int64
}

// Shows reports whether an answer to a version of what was shown answers r as it is now. Version 0 is not known: then
// the party saw what was sent last.
func (r *Request) Shows(version int64) bool {
	return version == r.Version || version == 0 && r.Version <= r.SentVersion
}

// ResendAllowedAt returns when r may be sent again: after the wait, or at once on channels
// that failed permanently; zero if it is closed.
func (r *Request) ResendAllowedAt(rules Rules) time.Time {
	switch {
	case r.State != RequestPending:
		return time.Time{}
	case len(r.FailedChannels) > 0:
		return r.LastSentAt
	}
	return r.LastSentAt.Add(rules.ResendAfter)
}

// resendable returns each of channels on which r may be sent again before ResendAfter is over:
//   - a channel that failed, or whose address the coach corrected (changed)
//   - a channel on which r was not sent, if another one failed
//   - a channel that stays in the app, if one that leaves it is sent again
func (r *Request) resendable(channels, changed []message.Channel, leavesApp func(message.Channel) bool) []message.Channel {
	var again []message.Channel
	leaves := false
	for _, c := range channels {
		failed := slices.Contains(r.FailedChannels, c) || slices.Contains(changed, c)
		untried := len(r.FailedChannels) > 0 && !slices.Contains(r.Channels, c)
		if !leavesApp(c) || failed || untried {
			again = append(again, c)
			leaves = leaves || leavesApp(c)
		}
	}
	if !leaves {
		return nil
	}
	return again
}

// Delivery is one message of a request on one channel.
type Delivery struct {
	Channel message.Channel
	// Kind is MessageRequest or MessageReminder.
	Kind  string
	State string // queued, sent, delivered, failed
	// Reason says why it waits or failed, or is empty. Cause is a notify.Cause with the detail,
	// or is empty.
	Reason, Cause string
	// Hold says what a message with the reason held waits for. DueAt is when it is looked at next.
	Hold  message.Hold
	DueAt time.Time
	// QueuedAt is when the message could leave, At when the state changed.
	QueuedAt, At time.Time
}

// Change is the data to save with a player in one transaction. The zero Change saves nothing.
type Change struct {
	// Save reports whether the player itself changed.
	Save bool
	// StatusChanges are the rows of the change feed, oldest first. Service sets them.
	StatusChanges []StatusChange
	// History is the decision to record, or nil.
	History *Record
	// Opened are new requests, at most one per party.
	Opened []*Request
	// Closed are requests that were closed, with their new state.
	Closed []*Request
	// Ended is the request of a yes that no longer counts, with its new version, or nil: see Player.EndApproval.
	Ended *Request
	// AnsweredAgain is the request of a former yes that History answers, or nil. It stays closed: see Party.ProofEnded.
	AnsweredAgain *Request
	// Reopened is a disputed request that is open again, or nil.
	Reopened *Request
	// Resent are open requests that are sent again.
	Resent []*Request
	// Send are the messages to queue.
	Send []Message
	// AfterDecision reports whether the coach asks again after the party rejected or
	// revoked.
	AfterDecision bool
	// By is the caller; empty in background work. The message limits count its Network.
	By actor.Actor
	// Reminded is the request of the party that received a reminder, or nil.
	Reminded *Request
	// RemindersLeft is how many reminders may follow the one to Reminded.
	RemindersLeft int
	// FollowedUp is a request on which the coach followed up outside of the app, or nil.
	FollowedUp *Request
	// Dispute is a request that its recipient disputed, or nil. Wording is what a party read that disputes or leaves.
	Dispute *Request
	Wording Wording
	// Lift is the request whose dispute ends, or nil.
	Lift *Request
	// LiftedBy is the operator who lifts the dispute, or nil if the party does.
	LiftedBy *actor.Operator
	// FormerGuardian is the account of a guardian whom the coach removes, or empty.
	FormerGuardian string
	// ForgetNotifications are the accounts whose notifications about the player are deleted.
	ForgetNotifications []string
	Events              []event.Event
}

// Message is one delivery to queue.
type Message struct {
	Request *Request
	Channel message.Channel
	Kind    string // MessageRequest or MessageReminder
	message.Destination
	// HeldUntil is when the message may leave (see RepeatedFrom); zero is at once.
	HeldUntil time.Time
}

// The kinds of Message.
const (
	MessageRequest  = "request"
	MessageReminder = "reminder"
)

// Record is one entry of the approval history (spec section 2.3).
type Record struct {
	ID         string
	PlayerID   string
	Party      actor.Role
	GuardianID string
	ApproverID string
	Action     Trigger
	Reason     string
	RequestID  string
	At         time.Time
	// Via is how the party answered.
	Via     actor.Via
	Wording Wording
	// Sealed has the rest of Wording until package player opens it.
	Sealed string
	// Proof is the proof with which a guardian said yes. It is not stored here, but in the record of the consent.
	Proof AdultProof
	// SessionID is the session that approves, or empty. It is not stored.
	SessionID string
	// CoachDevice reports whether the party approved on a device that had signed in as the coach
	// of the player. The store finds out in the transaction that saves the record.
	CoachDevice bool
}
