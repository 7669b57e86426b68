package coach_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/fault"
)

// TestKYCNext checks every pair of state and action.
func TestKYCNext(t *testing.T) {
	states := []coach.KYCState{coach.Disabled, coach.NotStarted, coach.Submitted, coach.Verified, coach.Rejected}
	actions := []coach.KYCAction{coach.Submit, coach.Withdraw, coach.Approve, coach.Reject}
	type pair struct {
		from   coach.KYCState
		action coach.KYCAction
	}
	want := map[pair]coach.KYCState{
		{coach.NotStarted, coach.Submit}:  coach.Submitted,
		{coach.Rejected, coach.Submit}:    coach.Submitted,
		{coach.Submitted, coach.Withdraw}: coach.NotStarted,
		{coach.Submitted, coach.Approve}:  coach.Verified,
		{coach.Submitted, coach.Reject}:   coach.Rejected,
	}
	byOperator := []coach.KYCAction{coach.Approve, coach.Reject}
	for _, from := range states {
		for _, action := range actions {
			next, refused := want[pair{from, action}], fault.CodeOf(nil)
			got, err := from.Next(action)
			if next == "" {
				next, refused = from, "invalid_transition"
			}
			if got != next || fault.CodeOf(err) != refused {
				t.Errorf("%s from %s: got %s, %v; want %s", action, from, got, err, next)
			}
			if f, ok := errors.AsType[*fault.Error](err); ok {
				allowed := []coach.KYCAction{}
				for _, other := range actions {
					if _, ok := want[pair{from, other}]; ok && slices.Contains(byOperator, other) == slices.Contains(byOperator, action) {
						allowed = append(allowed, other)
					}
				}
				if diff := cmp.Diff(map[string]any{"state": string(from), "allowed": allowed}, f.Extra); diff != "" || f.Kind != fault.Conflict {
					t.Errorf("%s from %s: %s", action, from, diff)
				}
			}
			if slices.Contains(action.From(), from) != (refused == "") {
				t.Errorf("%s.From() = %q, wrong for %s", action, action.From(), from)
			}
		}
	}
	for _, action := range actions {
		if action.ByOperator() != slices.Contains(byOperator, action) {
			t.Errorf("%s.ByOperator() = %t", action, action.ByOperator())
		}
	}
}
