package team_test

import (
	"fmt"
	"testing"

	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/team"
)

// TestAddedRecordEvents: a record notifies the parties that may see it and have notifications
// in the app.
func TestAddedRecordEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		record  event.Type
		without map[string]bool // services that a party does not have
		want    string
	}{
		{"both", event.ProgressAdded, nil, "[guardian g student s]"},
		{"the guardian has no progress", event.ProgressAdded, map[string]bool{"guardian progress_tracking": true}, "[student s]"},
		{"the student has no notifications", event.ReportAdded, map[string]bool{"student in_app_notifications": true}, "[guardian g]"},
		{"a report needs no progress", event.ReportAdded, map[string]bool{"guardian progress_tracking": true}, "[guardian g student s]"},
		{"no reports", event.ReportAdded, map[string]bool{"guardian performance_reports": true, "student performance_reports": true}, "[]"},
	} {
		enabled := func(_ string, party actor.Role, service team.AppService) team.Access {
			if tt.without[string(party)+" "+string(service)] {
				return team.ApprovalPending
			}
			return team.Granted
		}
		r := team.AddedRecord{Type: tt.record, ID: "r", Accounts: map[actor.Role]string{actor.Guardian: "g", actor.Student: "s"}}
		var got []string
		for _, e := range r.Events(enabled) {
			if got = append(got, string(e.Party), e.PartyID); e.Type != tt.record || e.RecordID != "r" {
				t.Errorf("%s: got %+v", tt.name, e)
			}
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: notifies %v, want %s", tt.name, got, tt.want)
		}
	}
}
