package approval

import (
	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/phone"
)

// Channel is a way to reach a party, such as "sms". This package knows no channel by
// name: Rules.Routes lists those that the service has.
type Channel string

// Addresses are how a party can be reached; empty fields are unknown.
type Addresses struct {
	Number phone.Number
	Email  string
}

// Destination is where a channel sends a message, and the first state of its delivery.
// Only a queued delivery has a link and counts against the message limits.
type Destination struct {
	// Address is empty if the message stays in the app.
	Address string
	State   string
	// Reason explains State; it may be empty.
	Reason string
}

// The states of a delivery.
const (
	DeliveryQueued    = "queued"
	DeliverySent      = "sent"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"
)

// The reasons of a delivery that no worker handles.
const (
	ReasonDestinationBlocked = "destination_blocked"
	ReasonTestNumber         = "test_number"
	// ReasonChannelUnavailable: the service no longer has the channel of the request.
	ReasonChannelUnavailable = "channel_unavailable"
)

// Route returns the destination of messages to a party on one channel.
type Route func(Addresses) Destination

// RouteInApp is the Route of a channel whose message is the notification in the app.
// The notification is saved in the same transaction, so the message is delivered.
func RouteInApp(Addresses) Destination { return Destination{State: DeliveryDelivered} }

// RouteToNumber returns the Route of a channel that sends to phone numbers. A message
// to a number that is not allowed fails at once. A message to a test number is not
// sent but counts as sent, so that app-store reviewers see the normal behaviour.
func RouteToNumber(allowed, testNumber func(phone.Number) bool) Route {
	return func(a Addresses) Destination {
		d := Destination{Address: string(a.Number), State: DeliveryQueued}
		switch {
		case !allowed(a.Number):
			d.State, d.Reason = DeliveryFailed, ReasonDestinationBlocked
		case testNumber(a.Number):
			d.State, d.Reason = DeliverySent, ReasonTestNumber
		}
		return d
	}
}

// destination returns where channel sends messages to party.
func (r Rules) destination(p *Player, party actor.Role, channel Channel) Destination {
	route, ok := r.Routes[channel]
	if !ok {
		return Destination{State: DeliveryFailed, Reason: ReasonChannelUnavailable}
	}
	return route(p.addresses(party))
}

func (p *Player) addresses(party actor.Role) Addresses {
	a := Addresses{Number: p.Number(party)}
	if party == actor.Guardian && p.Guardian != nil {
		a.Email = p.Guardian.Email
	}
	return a
}
