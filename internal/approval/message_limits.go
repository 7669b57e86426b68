package approval

import (
	"time"

	"github.com/touchline/touchline/internal/phone"
)

// MessageWindow is the length of the window of every message limit.
const MessageWindow = 24 * time.Hour

// MessageLimits are the settings that limit the SMS of coaches in any MessageWindow
// (contract section 4); 0 is no limit.
type MessageLimits struct {
	// PerNumberFromCoach limits the SMS of one coach to one number.
	PerNumberFromCoach int
	// PerNumber limits the SMS of all coaches to one number.
	PerNumber int
}

// MessageLimit is one limit that an SMS counts against.
type MessageLimit struct {
	Name string
	// Key identifies the counter.
	Key string
	// Max is the limit in any MessageWindow; 0 is no limit, but the SMS is counted.
	Max int
	// Variable reports whether Max may change while SMS are counted, as it does with
	// the coach's tier.
	Variable bool
}

// For returns the limits that an SMS from a coach to a number counts against, in
// lock order: the counter that all messages of a transaction share comes first, so
// that two transactions cannot deadlock. perCoach is what the coach may send in all.
// coachID is empty after the coach has closed the account; then only PerNumber
// applies.
func (l MessageLimits) For(coachID string, perCoach int64, to phone.Number) []MessageLimit {
	var limits []MessageLimit
	if coachID != "" {
		limits = append(limits, MessageLimit{Name: "messages_per_coach", Key: MessagesFromKey(coachID), Max: int(perCoach), Variable: true})
		if l.PerNumberFromCoach > 0 {
			limits = append(limits, MessageLimit{
				Name: "messages_per_number_from_coach", Key: "message/" + coachID + "/" + string(to), Max: l.PerNumberFromCoach,
			})
		}
	}
	if l.PerNumber > 0 {
		limits = append(limits, MessageLimit{Name: "messages_per_number", Key: "message/to/" + string(to), Max: l.PerNumber})
	}
	return limits
}

// MessagesFromKey is the key of the counter of all SMS of a coach.
func MessagesFromKey(coachID string) string { return "message/from/" + coachID }

// The states of a new Delivery.
const (
	DeliveryQueued    = "queued"
	DeliverySent      = "sent"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"
)

// The reasons of a Delivery that no worker handles.
const (
	ReasonDestinationBlocked = "destination_blocked"
	ReasonTestNumber         = "test_number"
)

// NewDelivery returns the state and the reason of the delivery of m when it is
// saved. Only a queued delivery has a link and counts against the message limits.
func (m Message) NewDelivery() (state, reason string) {
	switch {
	case m.Channel != SMS:
		return DeliveryDelivered, "" // the notification is saved in the same transaction
	case m.Unreachable:
		return DeliveryFailed, ReasonDestinationBlocked
	case m.Suppressed:
		return DeliverySent, ReasonTestNumber
	}
	return DeliveryQueued, ""
}
