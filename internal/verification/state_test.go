package verification_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/verification"
)

// TestKYCNext checks every pair of state and action.
func TestKYCNext(t *testing.T) {
	states := []coach.KYCState{coach.Disabled, coach.NotStarted, coach.Submitted, coach.Verified, coach.Rejected}
	actions := []verification.Action{verification.Submit, verification.Withdraw, verification.Approve, verification.Reject}
	type pair struct {
		from   coach.KYCState
		action verification.Action
	}
	want := map[pair]coach.KYCState{
		{coach.NotStarted, verification.Submit}:  coach.Submitted,
		{coach.Rejected, verification.Submit}:    coach.Submitted,
		{coach.Submitted, verification.Withdraw}: coach.NotStarted,
		{coach.Submitted, verification.Approve}:  coach.Verified,
		{coach.Submitted, verification.Reject}:   coach.Rejected,
	}
	byOperator := []verification.Action{verification.Approve, verification.Reject}
	for _, from := range states {
		for _, action := range actions {
			next, refused := want[pair{from, action}], fault.CodeOf(nil)
			got, err := verification.Next(from, action)
			if next == "" {
				next, refused = from, "invalid_transition"
			}
			if got != next || fault.CodeOf(err) != refused {
				t.Errorf("%s from %s: got %s, %v; want %s", action, from, got, err, next)
			}
			if f, ok := errors.AsType[*fault.Error](err); ok {
				allowed := []verification.Action{}
				for _, other := range actions {
					if _, ok := want[pair{from, other}]; ok && slices.Contains(byOperator, other) == slices.Contains(byOperator, action) {
						allowed = append(allowed, other)
					}
				}
				if diff := cmp.Diff(map[string]any{"state": string(from), "allowed": allowed}, f.Extra); diff != "" || f.Kind != fault.Conflict {
					t.Errorf("%s from %s: %s", action, from, diff)
				}
			}
		}
	}
}
