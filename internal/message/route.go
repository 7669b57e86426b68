package message

import (
	"slices"
	"time"

	"github.com/touchline/touchline/internal/platform/phone"
)

// Addresses are how a person can be reached; empty fields are unknown.
type Addresses struct {
	Number phone.Number
	Email  string
}

// Destination is where a channel sends a message, and the first state of its delivery.
// Only a queued delivery has a link and counts against the message limits.
type Destination struct {
	// Address is empty if the message stays in the app.
	Address string
	// State is empty if the person has no address on the channel.
	State string
	// Reason explains State; it may be empty.
	Reason string
}

// Route returns the destination of messages to a person on one channel.
type Route func(Addresses) Destination

// RouteInApp is the Route of a channel whose message is the notification in the app.
// The notification is saved in the same transaction, so the message is delivered.
func RouteInApp(Addresses) Destination { return Destination{State: DeliveredState} }

// RouteToNumber returns the Route of a channel that sends to phone numbers. A message
// to a number that is not allowed fails at once. A message to a test number is not
// sent but counts as sent, so that app-store reviewers see the normal behaviour.
func RouteToNumber(allowed, testNumber func(phone.Number) bool) Route {
	return func(a Addresses) Destination {
		d := Destination{Address: string(a.Number), State: QueuedState}
		switch {
		case !allowed(a.Number):
			d.State, d.Reason = FailedState, ReasonDestinationBlocked
		case testNumber(a.Number):
			d.State, d.Reason = SentState, ReasonTestNumber
		}
		return d
	}
}

// RouteToEmail returns the Route of a channel that sends to e-mail addresses. A message to
// a person with a test number is not sent but counts as sent.
func RouteToEmail(testNumber func(phone.Number) bool) Route {
	return func(a Addresses) Destination {
		switch {
		case a.Email == "":
			return Destination{}
		case testNumber(a.Number):
			return Destination{Address: a.Email, State: SentState, Reason: ReasonTestNumber}
		}
		return Destination{Address: a.Email, State: QueuedState}
	}
}

// Fallback says which channel sends a message that another channel cannot deliver, and when.
type Fallback struct {
	// To is the channel that sends the message instead.
	To Channel
	// After is how long the first channel may take to report that it sent the message.
	After time.Duration
	// Attempts is how often the first channel is tried if each attempt fails temporarily.
	Attempts int
}

// Now reports whether a message leaves on the other channel after the nth attempt failed.
func (f Fallback) Now(failed *SendError, attempt int) bool {
	return failed.Permanent || attempt >= f.Attempts
}

// Refuses reports whether the person chose other channels for a kind of message.
func (p Preferences) Refuses(kind Kind, channel Channel) bool {
	chosen, set := p.Channels[kind]
	return set && !slices.Contains(chosen, channel)
}
