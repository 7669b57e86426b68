package team

import (
	"slices"

	"github.com/touchline/touchline/internal/event"
)

// ReachedInApp returns the recipients whom a message reaches in the app.
func ReachedInApp(recipients []Recipient) []Recipient {
	var reached []Recipient
	for _, r := range recipients {
		if slices.ContainsFunc(r.Sends, func(s Send) bool { return s.Channel == InApp && s.Reason == "" }) {
			reached = append(reached, r)
		}
	}
	return reached
}

// Events returns the events that notify recipients of m: those who have notifications in the
// app.
func (m Message) Events(coachName string, recipients []Recipient, enabled Enabled) []event.Event {
	var events []event.Event
	for _, r := range recipients {
		if enabled(r.PlayerID, r.Party, InAppNotifications) != Granted {
			continue
		}
		events = append(events, event.Event{
			Type: event.TeamMessage, Party: r.Party, PartyID: r.AccountID, CoachID: m.CoachID, CoachName: coachName,
			PlayerID: r.PlayerID, StudentName: r.StudentName, MessageID: m.ID,
		})
	}
	return events
}
