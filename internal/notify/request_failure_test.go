package notify_test

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/notify"
)

func TestAllFailed(t *testing.T) {
	t.Parallel()
	message := func(id string, channel notify.Channel, state string) notify.RequestMessage {
		return notify.RequestMessage{ID: id, Channel: channel, State: state, LeavesApp: channel != notify.InApp}
	}
	noAddress := notify.RequestMessage{ID: "3", Channel: notify.Email, State: notify.QueuedState}
	for _, tt := range []struct {
		name     string
		messages []notify.RequestMessage
		want     bool
	}{
		{"the only channel", []notify.RequestMessage{message("1", notify.InApp, notify.DeliveredState), message("2", notify.SMS, notify.FailedState)}, true},
		{"another channel waits", []notify.RequestMessage{message("1", notify.SMS, notify.FailedState), message("2", notify.Email, notify.QueuedState)}, false},
		{"another channel sent", []notify.RequestMessage{message("1", notify.SMS, notify.FailedState), message("2", notify.Email, "sent")}, false},
		{"every channel", []notify.RequestMessage{message("1", notify.SMS, notify.FailedState), message("2", notify.Email, notify.FailedState)}, true},
		{"an earlier message was sent", []notify.RequestMessage{message("1", notify.SMS, "sent"), message("2", notify.SMS, notify.FailedState)}, true},
		{"a later message waits", []notify.RequestMessage{message("1", notify.SMS, notify.FailedState), message("2", notify.SMS, notify.QueuedState)}, false},
		{"WhatsApp counts as SMS", []notify.RequestMessage{message("1", notify.WhatsApp, "sent"), message("2", notify.SMS, notify.FailedState)}, true},
		{"a channel without an address", []notify.RequestMessage{message("1", notify.SMS, notify.FailedState), noAddress}, true},
	} {
		if got := notify.AllFailed(tt.messages); got != tt.want {
			t.Errorf("%s: got %t", tt.name, got)
		}
		reversed := slices.Clone(tt.messages)
		slices.Reverse(reversed)
		if got := notify.AllFailed(reversed); got != tt.want {
			t.Errorf("%s, in another order: got %t", tt.name, got)
		}
	}
}
