package conversation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/team"
)

// TestMessageEvents: a message notifies those whom it reaches in the app and who have
// notifications there.
func TestMessageEvents(t *testing.T) {
	recipient := func(player string, sends ...Send) Recipient {
		return Recipient{PlayerID: player, StudentName: "Asha", Party: actor.Guardian, AccountID: "account of " + player, Sends: sends}
	}
	sms, inApp := Send{Channel: SMS}, Send{Channel: InApp}
	reached := reachedInApp([]Recipient{
		recipient("by both", sms, inApp),
		recipient("by SMS", sms, Send{Channel: InApp, Reason: ReasonNotApproved}),
		recipient("without a channel"),
		recipient("without notifications", inApp),
	})
	enabled := func(player string, _ actor.Role, _ string, service team.AppService) team.Access {
		if player == "without notifications" && service == team.InAppNotifications {
			return team.NotInTier
		}
		return team.Granted
	}
	got := Message{ID: "m", CoachID: "c"}.events("Meera", reached, enabled)
	want := []event.Event{{
		Type: event.TeamMessage, Party: actor.Guardian, PartyID: "account of by both", CoachID: "c", CoachName: "Meera",
		PlayerID: "by both", StudentName: "Asha", MessageID: "m",
	}}
	if diff := cmp.Diff(want, got); diff != "" || len(reached) != 2 {
		t.Errorf("reached %+v, want 2 recipients; events (-want +got):\n%s", reached, diff)
	}
}
