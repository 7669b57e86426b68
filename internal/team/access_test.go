package team_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

func TestAccessErr(t *testing.T) {
	for access, want := range map[team.Access]string{
		team.Granted: "", team.ApprovalPending: "approval_pending", team.ApprovalRequired: "approval_required",
		team.NotInTier: "tier_limit", team.NotLinked: "not_found", "unknown": "not_found",
	} {
		err := access.Err(team.PerformanceReports)
		if got := fault.CodeOf(err); got != want || (err == nil) != (want == "") {
			t.Errorf("%q: got %v, want %q", access, err, want)
		}
		if f, ok := err.(*fault.Error); ok && (f.Code == "approval_pending" || f.Code == "approval_required") {
			if f.Extra["service"] != "performance_reports" || !strings.Contains(f.Message, "opens the reports that the coach writes.") {
				t.Errorf("%q does not say what an approval opens: %v %v", access, f.Message, f.Extra)
			}
		}
	}
}
