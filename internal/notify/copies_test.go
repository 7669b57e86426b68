package notify_test

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/notify"
)

func TestDraftCopies(t *testing.T) {
	t.Parallel()
	both := map[notify.Channel]string{notify.SMS: "+1", notify.Email: "a@b"}
	chosen := func(channels ...notify.Channel) notify.Preferences {
		return notify.Preferences{Channels: map[notify.Kind][]notify.Channel{notify.NotificationCopy: channels}}
	}
	devices := []string{"d1", "d2"}
	for _, tt := range []struct {
		name          string
		kind          notify.Type
		preferences   notify.Preferences
		addresses     map[notify.Channel]string
		subscriptions []string
		want          string
	}{
		{"no address", notify.CoachLeft, notify.Preferences{}, nil, nil, "[]"},
		{"one address", notify.CoachLeft, notify.Preferences{}, map[notify.Channel]string{notify.SMS: "+1"}, nil, "[{sms +1}]"},
		{"every channel", notify.CoachLeft, notify.Preferences{}, both, devices, "[{push d1} {push d2} {sms +1} {email a@b}]"},
		{"only mail", notify.CoachLeft, chosen(notify.Email), both, devices, "[{email a@b}]"},
		{"only push", notify.CoachLeft, chosen(notify.Push), both, devices, "[{push d1} {push d2}]"},
		{"push without a device", notify.CoachLeft, chosen(notify.Push), both, nil, "[{sms +1} {email a@b}]"},
		{"none", notify.CoachLeft, chosen(), both, devices, "[]"},
		{"none, but about security", notify.SecurityNotice, chosen(), both, devices, "[{push d1} {push d2} {sms +1} {email a@b}]"},
	} {
		d := notify.Draft{Type: tt.kind, Channels: []notify.Channel{notify.SMS, notify.Email}}
		if got := fmt.Sprint(d.Copies(tt.preferences, tt.addresses, tt.subscriptions)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
