package approval

import (
	"maps"
	"slices"
	"strconv"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// reaches reports whether party has an address on a channel. A channel that the service no
// longer has counts, so that its failure shows.
func (r Rules) reaches(p *Player, party actor.Role, channel message.Channel) bool {
	return r.destination(p, party, channel).State != ""
}

// defaultChannels returns the channels for a request to party if the coach names none.
func (r Rules) defaultChannels(p *Player, party actor.Role) []message.Channel {
	return slices.DeleteFunc(slices.Clone(r.DefaultChannels), func(c message.Channel) bool { return !r.reaches(p, party, c) })
}

// checkChannels refuses channels on which party has no address.
func (r Rules) checkChannels(p *Player, party actor.Role, channels []message.Channel) error {
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
func (r Rules) changedChannels(before, after message.Addresses) []message.Channel {
	var changed []message.Channel
	for _, channel := range slices.Sorted(maps.Keys(r.Routes)) {
		if to := r.Routes[channel](after).Address; to != "" && to != r.Routes[channel](before).Address {
			changed = append(changed, channel)
		}
	}
	return changed
}

// destination returns where channel sends messages to party.
func (r Rules) destination(p *Player, party actor.Role, channel message.Channel) message.Destination {
	route, ok := r.Routes[channel]
	if !ok {
		return message.Destination{State: message.FailedState, Reason: message.ReasonChannelUnavailable}
	}
	return route(p.addresses(party))
}

func (p *Player) addresses(party actor.Role) message.Addresses {
	a := message.Addresses{Number: p.Number(party)}
	if party == actor.Guardian {
		a.Email = p.GuardianEmail()
	}
	return a
}
