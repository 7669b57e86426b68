package team_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/team"
)

func TestFeeFilterStored(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		state    team.FeeState
		from, to team.Date
		want     string
	}{
		{"", "", "", `"" "" ""`},
		{"", "2026-01-01", "2026-12-31", `"" "2026-01-01" "2026-12-31"`},
		{team.Paid, "", "2026-12-31", `"paid" "" "2026-12-31"`},
		{team.Unpaid, "2026-01-01", "", `"open" "2026-01-01" ""`},
		{team.Due, "", "", `"open" "2026-03-10" ""`},
		{team.Due, "2026-03-01", "2026-03-31", `"open" "2026-03-10" "2026-03-31"`},
		{team.Due, "2026-04-01", "2026-04-30", `"open" "2026-04-01" "2026-04-30"`},
		{team.Overdue, "", "", `"open" "" "2026-03-09"`},
		{team.Overdue, "2026-03-01", "2026-03-31", `"open" "2026-03-01" "2026-03-09"`},
		{team.Overdue, "2026-02-01", "2026-02-28", `"open" "2026-02-01" "2026-02-28"`},
	} {
		status, from, to := team.FeeFilter{State: tt.state, From: tt.from, To: tt.to, Today: "2026-03-10"}.Stored()
		if got := fmt.Sprintf("%q %q %q", status, from, to); got != tt.want {
			t.Errorf("%s from %q to %q: got %s, want %s", tt.state, tt.from, tt.to, got, tt.want)
		}
	}
}

// TestRemindersOfSuspendedCoach: no party is reminded while an operator suspends the coach.
func TestRemindersOfSuspendedCoach(t *testing.T) {
	t.Parallel()
	for _, suspended := range []bool{false, true} {
		a := team.FeeAudience{
			Fee: openFee(), Zone: "UTC", Suspended: suspended,
			Linked: []team.FeeParty{{Role: actor.Guardian, AccountID: "g"}, {Role: actor.Student, AccountID: "s", Access: team.ApprovalPending}},
		}
		a.Fee.DueOn = team.DateOf(noon, time.UTC)
		automatic := a.RemindAutomatically(noon)
		sent, events, err := a.Remind(noon)
		must(t, err)
		if n := len(events); len(automatic) != n || (n == 0) != suspended || (len(sent.Parties) == 0) != suspended {
			t.Errorf("suspended %t: %d and %d events, parties %+v", suspended, len(automatic), n, sent.Parties)
		}
	}
}
