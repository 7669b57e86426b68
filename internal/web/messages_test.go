package web

import (
	"testing"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/notify"
)

// Every notification that a party can get has a text in the catalogue.
func TestMessagesOfFamiliesAreWorded(t *testing.T) {
	english := texts(t, "en")
	found := 0
	for _, eventType := range []event.Type{
		event.Requested, event.Reminded, event.Approved, event.Rejected, event.Revoked, event.Changed, event.Unlinked, event.Removed, event.CoachLeft, event.TokenReused,
	} {
		for _, party := range []actor.Role{actor.Guardian, actor.Student} {
			for _, d := range notify.Plan(event.Event{Type: eventType, Party: party}, "Touchline") {
				if d.To == actor.Coach {
					continue
				}
				found++
				for _, key := range []string{"message." + string(d.Type), "message." + string(d.Type) + ".title"} {
					if english[key] == "" {
						t.Errorf("%s to a %s: no text %s", eventType, party, key)
					}
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d notifications, want one for each event and party", found)
	}
}
