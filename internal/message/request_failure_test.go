package message_test

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/message"
)

func TestAllFailed(t *testing.T) {
	t.Parallel()
	newMessage := func(id string, channel message.Channel, state string) message.RequestMessage {
		return message.RequestMessage{ID: id, Channel: channel, State: state, LeavesApp: channel != message.InApp}
	}
	noAddress := message.RequestMessage{ID: "3", Channel: message.Email, State: message.QueuedState}
	for _, tt := range []struct {
		name     string
		messages []message.RequestMessage
		want     bool
	}{
		{"the only channel", []message.RequestMessage{newMessage("1", message.InApp, message.DeliveredState), newMessage("2", message.SMS, message.FailedState)}, true},
		{"another channel waits", []message.RequestMessage{newMessage("1", message.SMS, message.FailedState), newMessage("2", message.Email, message.QueuedState)}, false},
		{"another channel sent", []message.RequestMessage{newMessage("1", message.SMS, message.FailedState), newMessage("2", message.Email, "sent")}, false},
		{"every channel", []message.RequestMessage{newMessage("1", message.SMS, message.FailedState), newMessage("2", message.Email, message.FailedState)}, true},
		{"an earlier message was sent", []message.RequestMessage{newMessage("1", message.SMS, "sent"), newMessage("2", message.SMS, message.FailedState)}, true},
		{"a later message waits", []message.RequestMessage{newMessage("1", message.SMS, message.FailedState), newMessage("2", message.SMS, message.QueuedState)}, false},
		{"WhatsApp counts as SMS", []message.RequestMessage{newMessage("1", message.Chat, "sent"), newMessage("2", message.SMS, message.FailedState)}, true},
		{"a channel without an address", []message.RequestMessage{newMessage("1", message.SMS, message.FailedState), noAddress}, true},
	} {
		if got := message.AllFailed(tt.messages); got != tt.want {
			t.Errorf("%s: got %t", tt.name, got)
		}
		reversed := slices.Clone(tt.messages)
		slices.Reverse(reversed)
		if got := message.AllFailed(reversed); got != tt.want {
			t.Errorf("%s, in another order: got %t", tt.name, got)
		}
	}
}
