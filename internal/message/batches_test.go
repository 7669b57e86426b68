package message_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// A request names the batches in the app and by SMS, without links.
func TestRequestNamesBatches(t *testing.T) {
	for _, tt := range []struct {
		batches []string
		want    string
	}{
		{nil, " to a batch"},
		{[]string{"http://evil.example"}, " to a batch"},
		{[]string{"U12 Evening"}, " to U12 Evening"},
		{[]string{"U12", "U14"}, " to U12 and U14"},
		{[]string{"U12", "U14", "Goalkeepers"}, " to U12 and 2 more batches"},
	} {
		for _, party := range []actor.Role{actor.Guardian, actor.Student} {
			e := event.Event{Type: event.Requested, Party: party, PartyID: "p", CoachName: "Meera", StudentName: "Asha", BatchNames: tt.batches}
			sms := message.SMSText(request(message.RequestDetails{Party: party, CoachName: "Meera", StudentName: "Asha", BatchNames: tt.batches}, "https://t.example/a/x", false))
			if body, named := message.Plan(e, "Touchline")[0].Body, party == actor.Guardian || tt.batches != nil; strings.Contains(body, tt.want) != named {
				t.Errorf("%s in %q: got %q", party, tt.batches, body)
			}
			if !strings.Contains(sms, tt.want) {
				t.Errorf("SMS to %s in %q: got %q", party, tt.batches, sms)
			}
		}
	}
}
