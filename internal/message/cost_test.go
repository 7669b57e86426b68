package message

import (
	"testing"

	"github.com/touchline/touchline/internal/platform/phone"
)

// TestCostOfChat: a chat alone is free in the window and else costs its templates. One that may leave by SMS counts as the dearer.
func TestCostOfChat(t *testing.T) {
	for _, tt := range []struct {
		name          string
		channel       Channel
		kind          Kind
		replied, only bool
		sms, chat     int64
		want          int64
	}{
		{"SMS", SMS, Team, false, false, 12, 10, 24},
		{"chat or SMS", Chat, Team, false, false, 12, 10, 24},
		{"dear chat or SMS", Chat, Team, false, false, 12, 30, 30},
		{"chat alone", Chat, Team, false, true, 12, 10, 10},
		{"in the window", Chat, Team, true, true, 12, 10, 0},
		{"in the window, or SMS", Chat, Team, true, false, 12, 10, 24},
		{"OTP", Chat, OTP, false, false, 12, 10, 26}, // two segments at 13, the price of an OTP by WhatsApp
	} {
		s := Settings{
			SegmentPrice: func(c Channel, _ phone.Number) int64 {
				if c == Chat {
					return 13
				}
				return tt.sms
			},
			ChatPrice: func(phone.Number) int64 { return tt.chat },
		}
		out := Outgoing{
			Message:    Message{Kind: tt.kind, Team: TeamMessage{Text: "Training is at five.", Replied: tt.replied}},
			Deliveries: []Delivery{{Lane: Lane{Channel: tt.channel, Kind: tt.kind}, To: "+919812300001", Stays: tt.only}}, Segments: 2,
		}
		if got := s.Cost(out); got != tt.want {
			t.Errorf("%s: costs %d, want %d", tt.name, got, tt.want)
		}
	}
}
