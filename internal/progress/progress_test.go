package progress

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/wire"
	"github.com/touchline/touchline/internal/team"
)

// TestToParties: a record notifies the parties that may see it and have notifications
// in the app.
func TestToParties(t *testing.T) {
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
		enabled := func(_ string, party actor.Role, _ string, service team.AppService) team.Access {
			if tt.without[string(party)+" "+string(service)] {
				return team.ApprovalPending
			}
			return team.Granted
		}
		record := event.Event{Type: tt.record, RecordID: "r"}
		var got []string
		for _, e := range toParties(record, []party{{actor.Guardian, "1", "g"}, {actor.Student, "", "s"}}, enabled) {
			if got = append(got, string(e.Party), e.PartyID); e.Type != tt.record || e.RecordID != "r" {
				t.Errorf("%s: got %+v", tt.name, e)
			}
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("%s: notifies %v, want %s", tt.name, got, tt.want)
		}
	}
}

func TestCheckMeasured(t *testing.T) {
	now := time.Date(2026, 3, 2, 23, 0, 0, 0, time.UTC)
	for day, want := range map[string]string{
		"2026-03-02": "", "2026-03-03": "", "2026-03-04": "in_future", "1949-12-31": "too_early", "2026-02-30": "invalid_date", "": "invalid_date", "2026-3-2": "invalid_date",
	} {
		var faults wire.Faults
		checkMeasured(day, now, &faults)
		if len(faults) != min(1, len(want)) || want != "" && faults[0].Code != want {
			t.Errorf("%q: %v, want %q", day, faults, want)
		}
	}
}
