package approval_test

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/fault"
)

// TestStateNext checks every state with every trigger; "-" means refused.
func TestStateNext(t *testing.T) {
	triggers := []approval.Trigger{approval.Approve, approval.Reject, approval.Revoke, approval.Ask}
	table := map[approval.State][]approval.State{
		approval.Pending:  {approval.Approved, approval.Rejected, "-", "-"},
		approval.Approved: {"-", "-", approval.Revoked, "-"},
		approval.Rejected: {"-", "-", "-", approval.Pending},
		approval.Revoked:  {"-", "-", "-", approval.Pending},
		"unknown":         {"-", "-", "-", "-"},
	}
	for from, row := range table {
		for i, want := range row {
			got, err := from.Next(triggers[i])
			if want == "-" {
				f, is := err.(*fault.Error)
				if !is || f.Kind != fault.Conflict || f.Code != "invalid_transition" || f.Extra["state"] != string(from) {
					t.Errorf("%s, %s: got %q, %v; want invalid_transition", from, triggers[i], got, err)
				}
				continue
			}
			if got != want || err != nil {
				t.Errorf("%s, %s: got %q, %v; want %q", from, triggers[i], got, err, want)
			}
		}
		if _, err := from.Next("unknown"); fault.CodeOf(err) != "invalid_transition" {
			t.Errorf("%s, unknown trigger: got %v, want invalid_transition", from, err)
		}
	}
}

func TestStateAllowed(t *testing.T) {
	for state, want := range map[approval.State][]string{
		approval.Pending: {"approved", "rejected"}, approval.Approved: {"revoked"}, approval.Rejected: {}, approval.Revoked: {},
	} {
		if got := state.Allowed(); got == nil || !slices.Equal(got, want) {
			t.Errorf("%s.Allowed() = %q, want %q", state, got, want)
		}
	}
}

func TestStateStatus(t *testing.T) {
	for state, want := range map[approval.State]string{
		approval.Pending: "pending", approval.Approved: "approved", approval.Rejected: "rejected", approval.Revoked: "rejected",
	} {
		if got := state.Status(); got != want {
			t.Errorf("%s.Status() = %q, want %q", state, got, want)
		}
	}
}
