package approval

import (
	"maps"
	"slices"
	"strconv"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/fault"
)

// reaches reports whether a has an address on a channel. A channel that the service no
// longer has counts, so that its failure shows.
func (r Rules) reaches(a *Party, channel message.Channel) bool {
	return r.destination(a, channel).State != ""
}

// defaultChannels returns the channels for a request to a if the coach names none.
func (r Rules) defaultChannels(a *Party) []message.Channel {
	return slices.DeleteFunc(slices.Clone(r.DefaultChannels), func(c message.Channel) bool { return !r.reaches(a, c) })
}

// checkChannels refuses channels on which a has no address.
func (r Rules) checkChannels(a *Party, channels []message.Channel) error {
	var faults []fault.Field
	for i, channel := range channels {
		if !r.reaches(a, channel) {
			faults = append(faults, fault.Field{
				Pointer: "/channels/" + strconv.Itoa(i), Code: "no_address",
				Detail: "There is no address of the " + string(a.Role) + " for this channel. Add one, or choose another channel.",
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

// destination returns where channel sends messages to a.
func (r Rules) destination(a *Party, channel message.Channel) message.Destination {
	route, ok := r.Routes[channel]
	if !ok {
		return message.Destination{State: message.FailedState, Reason: message.ReasonChannelUnavailable}
	}
	return route(a.addresses())
}

func (a *Party) addresses() message.Addresses {
	return message.Addresses{Number: a.Number, Email: a.Email}
}
