package team

import (
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/platform/actor"
)

// AddedRecord is a measurement or a report that a coach added.
type AddedRecord struct {
	Type                  event.Type // ProgressAdded or ReportAdded
	ID, CoachID, PlayerID string
	CoachName             string
	StudentName           string
	// Accounts are those of the parties that the player has.
	Accounts map[actor.Role]string
}

// Events returns the events that notify the parties: those who may see the record and have
// notifications in the app.
func (r AddedRecord) Events(enabled Enabled) []event.Event {
	service := ProgressTracking
	if r.Type == event.ReportAdded {
		service = PerformanceReports
	}
	var events []event.Event
	for _, party := range []actor.Role{actor.Guardian, actor.Student} {
		if enabled(r.PlayerID, party, service) != Granted || enabled(r.PlayerID, party, InAppNotifications) != Granted {
			continue
		}
		events = append(events, event.Event{
			Type: r.Type, Party: party, PartyID: r.Accounts[party], CoachID: r.CoachID, CoachName: r.CoachName,
			PlayerID: r.PlayerID, StudentName: r.StudentName, RecordID: r.ID,
		})
	}
	return events
}
