package message

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// Channel is a way to reach a person.
type Channel string

// The channels. A message by InApp is the notification itself; every other channel leaves
// the service through a sender of package worker, if the configuration has one.
const (
	InApp Channel = "in_app"
	SMS   Channel = "sms"
	Chat  Channel = "chat" // by WhatsApp
	// Voice is a call.
	Voice Channel = "voice"
	Email Channel = "email"
	Push  Channel = "push"
)

// OfRequest returns the channel of a request whose messages leave on c: an SMS can leave
// by chat first.
func (c Channel) OfRequest() Channel {
	if c == Chat {
		return SMS
	}
	return c
}

// Kind is the kind of message that a delivery carries.
type Kind string

// The kinds, most urgent first.
const (
	OTP      Kind = "otp"
	Request  Kind = "request"
	Reminder Kind = "reminder"
	// NotificationCopy repeats an in-app notification. Closing a coach's account may
	// queue thousands.
	NotificationCopy Kind = "notice"
	// Team is a message that a coach wrote. One may go to a thousand people.
	Team Kind = "team"
)

// Kinds lists every kind.
var Kinds = []Kind{OTP, Request, Reminder, NotificationCopy, Team}

// Lane is one queue of the outbox. Lanes are independent: a slow provider delays
// neither other channels nor other kinds.
type Lane struct {
	Channel Channel
	Kind    Kind
}

// Lanes returns the lanes of the channel, most urgent first.
func (c Channel) Lanes() []Lane {
	lanes := make([]Lane, len(Kinds))
	for i, kind := range Kinds {
		lanes[i] = Lane{c, kind}
	}
	return lanes
}

// Delivery is one message that a worker has claimed. It contains no text: the worker
// renders it when it sends, from the current state.
type Delivery struct {
	ID string
	Lane
	// To is the address on the channel, such as a phone number for SMS.
	To   string
	Role actor.Role
	// Lease is the claim. Only its holder may complete the delivery.
	Lease string
	// Attempts is how many there were since the delivery was queued, TotalAttempts since it
	// was created. Both include the current one.
	Attempts, TotalAttempts int

	GivesUpAt time.Time
	// Counted is true if the message limits have admitted the delivery.
	Counted bool
	// Reserved is true for an OTP whose cost was counted when it was requested.
	Reserved bool
	// Held is true if the delivery waited for a limit, and HeldBy is the limit's key.
	Held   bool
	HeldBy string
	// Postponed is true if the delivery waited for the end of quiet hours.
	Postponed bool
	// Gathers is true if the delivery waits to leave in one message with others of the
	// coach to the same address. GatheredBy is the delivery whose message carries this
	// one, or empty; it carries itself too.
	Gathers    bool
	GatheredBy string
	// AwaitsStatus is true if the provider accepted the delivery and has not reported yet that
	// it sent it. The delivery is claimed when this has taken too long.
	AwaitsStatus bool
	// Stays is true if the message leaves on no other channel than this one.
	Stays bool
	// TraceParent is the W3C traceparent of the request that asked for the message, or empty.
	TraceParent string
	// Network is where the coach asked for the message, or empty.
	Network string

	CoachID, RequestID, ChallengeID, DeviceID, NotificationID string
	// TeamMessageID and TeamPosition are the recipient of a message that a coach wrote.
	TeamMessageID string
	TeamPosition  int
}

// RequestDetails is the content of the message of an approval request.
type RequestDetails struct {
	Party       actor.Role
	CoachName   string
	StudentName string
	// BatchNames are the batches that the student is in.
	BatchNames []string
	// ShortCode is the short code of the request, or empty.
	ShortCode string
	// Repeated is true if the same request was sent before.
	Repeated bool
	// Version is the version of the request, which shows these names.
	Version int64
}

// Question is one question of a message that asks several.
type Question struct {
	RequestDetails
	Link string
}

// Copy is a notification that is also sent outside the app.
type Copy struct {
	Type Type
	// Title and Text are copied from the notification.
	Title, Text string
	// Data is copied from the notification; AccountID is its recipient.
	Data      Data
	AccountID string
	// Answer is true if the link of the message is one with which the recipient answers.
	Answer bool
	// ToCoach is true if the recipient is a coach.
	ToCoach bool
	// Confirmed is true if the recipient confirmed the address of the mail.
	Confirmed bool
	// Readable is true if the recipient still has the role and can sign in to read
	// the notification.
	Readable bool
}

// Needed reports whether a channel carries the copy. Mail and push carry every copy. An SMS
// carries CoachLeft, 18th birthdays, SecondMessage and what is about a training, and other types only if the recipient cannot read
// the notification in the app.
func (c Copy) Needed(channel Channel) bool {
	return channel == Email || channel == Push || c.Type == CoachLeft || c.Type.OfTraining() || c.Type == TurningAdult || c.Type == TurnedAdult || c.Type == SecondMessage || !c.Readable
}

// Late reports whether the copy is about a training that has begun: a message that had to wait, for
// example for a limit or the end of quiet hours, would mislead.
func (c Copy) Late(now time.Time) bool {
	at := c.Data.Words.Training.StartsAt
	return c.Type.OfTraining() && !at.IsZero() && !now.Before(at)
}

// Message is a delivery with its content, ready to send. A sender renders it with the
// wording of its channel, such as SMSText.
type Message struct {
	// ID is the same in every attempt, so that a provider can drop duplicates.
	ID string
	// Attempt and TotalAttempts belong to the delivery with this ID.
	Attempt, TotalAttempts int

	To   string
	Kind Kind
	// Brand is the name of the service.
	Brand string

	// Language is the recipient's language; empty is the default.
	Language string

	// For OTP. Role is that in which the recipient signs in.
	Role actor.Role
	// HoldsRole is true if the recipient of an OTP holds the role; a new coach does not.
	HoldsRole bool
	Code      string
	// ConfirmsAddress is true if the code confirms an e-mail address.
	ConfirmsAddress bool
	ValidFor        time.Duration
	Ending          OTPEnding

	// LeavesBefore is when a call must no longer ring, or zero.
	LeavesBefore time.Time

	// For Request and Reminder.
	Request RequestDetails
	Link    string
	// More are further questions of the same coach, for Request.
	More []Question

	// For NotificationCopy.
	Copy Copy

	// For Team.
	Team TeamMessage
}

// SendError is an attempt that a provider did not accept.
type SendError struct {
	// Permanent is true if the provider will never accept this message.
	Permanent bool
	// Cause says why, or is empty.
	Cause Cause
	// Outage is true if the provider would now refuse every message.
	Outage bool
	// Next is true if another provider can try at once.
	Next bool
	// Wait is how long the provider asks to wait before the next attempt, or zero.
	Wait time.Duration
	// Gone is true if the recipient can no longer be reached in this way. The message is
	// dropped: no person can correct that.
	Gone bool
	// Reason is safe to log: it contains no address, text or credential.
	Reason string
}

// Error returns the reason.
func (e *SendError) Error() string { return e.Reason }

// Outgoing is a message that is ready to send.
type Outgoing struct {
	Message Message
	// Deliveries are the deliveries that the message completes, the oldest first.
	Deliveries []Delivery
	// Segments is how many SMS segments the message takes.
	Segments int
}
