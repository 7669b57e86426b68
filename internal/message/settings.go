package message

import (
	"time"

	"github.com/touchline/touchline/internal/platform/phone"
)

// Settings are the settings of the operator for the outbox.
type Settings struct {
	// GatherFor is how long further requests of a coach to a number wait after the
	// first, to leave in one message; 0 is off.
	GatherFor time.Duration
	Limits    Limits
	// SegmentPrice returns the price of a segment, of a call, or of an OTP by WhatsApp, on a channel to a number; nil
	// is free.
	SegmentPrice func(Channel, phone.Number) int64
	// ChatPrice returns the price of a WhatsApp template that is no OTP; nil is free.
	ChatPrice func(phone.Number) int64
	// Fallbacks has, by channel, the channel for messages that it could not deliver. It may lack
	// entries.
	Fallbacks map[Channel]Channel
}

// Price returns the price of a segment on a channel to a number.
func (s Settings) Price(channel Channel, n phone.Number) int64 {
	if s.SegmentPrice == nil {
		return 0
	}
	return s.SegmentPrice(channel, n)
}

// Facts are what the limits must know of the coach and the recipient of a message.
type Facts struct {
	// Trusted, NewCoach, Approvals, NeverSignedIn and Network are fields of Counted.
	Trusted, NewCoach bool
	Approvals         int
	NeverSignedIn     bool
	Network           string
}

// Cost returns what a message counts. A chat that leaves by SMS if WhatsApp cannot deliver it counts as the dearer of
// both, because the SMS is not counted again. A chat to a person who wrote a short time ago is free.
func (s Settings) Cost(out Outgoing) int64 {
	d := out.Deliveries[0]
	n := phone.Number(d.To)
	if d.Channel != Chat || d.Kind == OTP {
		return int64(out.Segments) * s.Price(d.Channel, n)
	}
	chat := s.chatCost(out.Message, n)
	if d.Stays {
		return chat
	}
	return max(chat, int64(out.Segments)*s.Price(SMS, n))
}

func (s Settings) chatCost(m Message, n phone.Number) int64 {
	if s.ChatPrice == nil || m.Team.Replied {
		return 0
	}
	return int64(len(WhatsAppOf(m))) * s.ChatPrice(n)
}
