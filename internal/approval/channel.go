package approval

import (
	"maps"
	"slices"
	"strconv"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
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
	// State is empty if the party has no address on the channel.
	State string
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
			d.State, d.Reason = DeliveryFailed, message.ReasonDestinationBlocked
		case testNumber(a.Number):
			d.State, d.Reason = DeliverySent, message.ReasonTestNumber
		}
		return d
	}
}

// RouteToEmail returns the Route of a channel that sends to e-mail addresses. A message to
// a party with a test number is not sent but counts as sent.
func RouteToEmail(testNumber func(phone.Number) bool) Route {
	return func(a Addresses) Destination {
		switch {
		case a.Email == "":
			return Destination{}
		case testNumber(a.Number):
			return Destination{Address: a.Email, State: DeliverySent, Reason: message.ReasonTestNumber}
		}
		return Destination{Address: a.Email, State: DeliveryQueued}
	}
}

// reaches reports whether party has an address on a channel. A channel that the service no
// longer has counts, so that its failure shows.
func (r Rules) reaches(p *Player, party actor.Role, channel Channel) bool {
	return r.destination(p, party, channel).State != ""
}

// defaultChannels returns the channels for a request to party if the coach names none.
func (r Rules) defaultChannels(p *Player, party actor.Role) []Channel {
	return slices.DeleteFunc(slices.Clone(r.DefaultChannels), func(c Channel) bool { return !r.reaches(p, party, c) })
}

// checkChannels refuses channels on which party has no address.
func (r Rules) checkChannels(p *Player, party actor.Role, channels []Channel) error {
	var faults []fault.Field
	for i, channel := range channels {
		if !r.reaches(p, party, channel) {
			faults = append(faults, fault.Field{
				Pointer: "/channels/" + strconv.Itoa(i), Code: "no_address",
				Detail: "There is no address of the " + string(party) + " for this channel. Add one, or choose another channel.",
			})
		}
	}
	return fault.Validation(faults)
}

// changedChannels returns the channels on which the address of a party is another than
// before and not empty.
func (r Rules) changedChannels(before, after Addresses) []Channel {
	var changed []Channel
	for _, channel := range slices.Sorted(maps.Keys(r.Routes)) {
		if to := r.Routes[channel](after).Address; to != "" && to != r.Routes[channel](before).Address {
			changed = append(changed, channel)
		}
	}
	return changed
}

// destination returns where channel sends messages to party.
func (r Rules) destination(p *Player, party actor.Role, channel Channel) Destination {
	route, ok := r.Routes[channel]
	if !ok {
		return Destination{State: DeliveryFailed, Reason: message.ReasonChannelUnavailable}
	}
	return route(p.addresses(party))
}

func (p *Player) addresses(party actor.Role) Addresses {
	a := Addresses{Number: p.Number(party)}
	if party == actor.Guardian {
		a.Email = p.GuardianEmail()
	}
	return a
}
