package message_test

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/message"
)

func TestDraftCopies(t *testing.T) {
	t.Parallel()
	both := map[message.Channel]string{message.SMS: "+1", message.Email: "a@b"}
	chosen := func(channels ...message.Channel) message.Preferences {
		return message.Preferences{Channels: map[message.Kind][]message.Channel{message.NotificationCopy: channels}}
	}
	devices := []string{"d1", "d2"}
	for _, tt := range []struct {
		name          string
		kind          message.Type
		preferences   message.Preferences
		addresses     map[message.Channel]string
		subscriptions []string
		want          string
	}{
		{"no address", message.CoachLeft, message.Preferences{}, nil, nil, "[]"},
		{"one address", message.CoachLeft, message.Preferences{}, map[message.Channel]string{message.SMS: "+1"}, nil, "[{sms +1}]"},
		{"every channel", message.CoachLeft, message.Preferences{}, both, devices, "[{push d1} {push d2} {sms +1} {email a@b}]"},
		{"only mail", message.CoachLeft, chosen(message.Email), both, devices, "[{email a@b}]"},
		{"only push", message.CoachLeft, chosen(message.Push), both, devices, "[{push d1} {push d2}]"},
		{"push without a device", message.CoachLeft, chosen(message.Push), both, nil, "[{sms +1} {email a@b}]"},
		{"none", message.CoachLeft, chosen(), both, devices, "[]"},
		{"none, but a second message", message.SecondMessage, chosen(), both, nil, "[{sms +1} {email a@b}]"},
		{"none, but about security", message.SecurityNotice, chosen(), both, devices, "[{push d1} {push d2} {sms +1} {email a@b}]"},
	} {
		d := message.Draft{Type: tt.kind, Channels: []message.Channel{message.SMS, message.Email}}
		if got := fmt.Sprint(d.Copies(tt.preferences, tt.addresses, tt.subscriptions)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
