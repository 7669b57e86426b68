package team_test

import (
	"testing"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/team"
)

func TestAccessErr(t *testing.T) {
	for access, want := range map[team.Access]string{
		team.Granted: "", team.ApprovalPending: "approval_pending", team.ApprovalRequired: "approval_required",
		team.NotInTier: "tier_limit", team.NotLinked: "not_found", "unknown": "not_found",
	} {
		err := access.Err()
		if got := fault.CodeOf(err); got != want || (err == nil) != (want == "") {
			t.Errorf("%q: got %v, want %q", access, err, want)
		}
	}
}
