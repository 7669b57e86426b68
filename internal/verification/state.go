package verification

import (
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Action changes the state of a coach or of a submission; see next.
type Action string

// The actions. A coach withdraws by deleting or replacing a document of an undecided submission.
const (
	Submit   Action = "submit"
	Withdraw Action = "withdraw"
	Approve  Action = "approve"
	Reject   Action = "reject"
)

// transitions are all transitions and who may make them; docs/architecture.md describes them.
var transitions = []struct {
	from     coach.KYCState
	action   Action
	operator bool // false: the coach
	to       coach.KYCState
}{
	{coach.NotStarted, Submit, false, coach.Submitted},
	{coach.Rejected, Submit, false, coach.Submitted},
	{coach.Submitted, Withdraw, false, coach.NotStarted},
	{coach.Submitted, Approve, true, coach.Verified},
	{coach.Submitted, Reject, true, coach.Rejected},
}

// Next returns the state after an action in s, or an invalid_transition with the state and the
// actions that the same actor could take instead.
func Next(s coach.KYCState, a Action) (coach.KYCState, error) {
	for _, c := range transitions {
		if c.from == s && c.action == a {
			return c.to, nil
		}
	}
	text := string(s)
	switch s {
	case coach.NotStarted:
		text = "not started"
	case coach.Disabled:
		text = "switched off"
	}
	return s, fault.New(fault.Conflict, "invalid_transition", "This is not possible while the verification is %s.", text).
		With("state", string(s)).With("allowed", allowed(s, a == Approve || a == Reject))
}

// allowed returns the actions that an operator, or the coach, may take in s.
func allowed(s coach.KYCState, operator bool) []Action {
	actions := []Action{}
	for _, c := range transitions {
		if c.from == s && c.operator == operator {
			actions = append(actions, c.action)
		}
	}
	return actions
}
