package coach_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fault"
)

// TestKYCNext is every pair of state and move.
func TestKYCNext(t *testing.T) {
	states := []coach.KYCState{coach.Disabled, coach.NotStarted, coach.Submitted, coach.Verified, coach.Rejected}
	moves := []coach.KYCAction{coach.Submit, coach.Withdraw, coach.Approve, coach.Reject}
	type pair struct {
		from coach.KYCState
		move coach.KYCAction
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
		for _, move := range moves {
			next, refused := want[pair{from, move}], fault.CodeOf(nil)
			got, err := from.Next(move)
			if next == "" {
				next, refused = from, "invalid_transition"
			}
			if got != next || fault.CodeOf(err) != refused {
				t.Errorf("%s from %s: %s, %v; want %s", move, from, got, err, next)
			}
			if f, ok := errors.AsType[*fault.Error](err); ok {
				allowed := []coach.KYCAction{}
				for _, other := range moves {
					if _, ok := want[pair{from, other}]; ok && slices.Contains(byOperator, other) == slices.Contains(byOperator, move) {
						allowed = append(allowed, other)
					}
				}
				if diff := cmp.Diff(map[string]any{"state": string(from), "allowed": allowed}, f.Extra); diff != "" || f.Kind != fault.Conflict {
					t.Errorf("%s from %s: %s", move, from, diff)
				}
			}
			if slices.Contains(move.From(), from) != (refused == "") {
				t.Errorf("%s starts from %q", move, move.From())
			}
		}
	}
	for _, move := range moves {
		if move.ByOperator() != slices.Contains(byOperator, move) {
			t.Errorf("%s: by an operator is %t", move, move.ByOperator())
		}
	}
}
