package coach

import (
	"github.com/touchline/touchline/internal/platform/fault"
)

// KYCState is the state of a coach's identity verification (KYC).
type KYCState string

// The states. Disabled is the state of every coach while the setting KYC is off; it
// is never stored.
const (
	Disabled   KYCState = "disabled"
	NotStarted KYCState = "not_started"
	Submitted  KYCState = "submitted"
	Verified   KYCState = "verified"
	Rejected   KYCState = "rejected"
	// Withdrawn is a state of a submission only: the coach is NotStarted then.
	Withdrawn KYCState = "withdrawn"
)

// KYCAction changes a KYCState; see KYCState.Next.
type KYCAction string

// The actions. A coach withdraws by deleting or replacing a document of an
// undecided submission.
const (
	Submit   KYCAction = "submit"
	Withdraw KYCAction = "withdraw"
	Approve  KYCAction = "approve"
	Reject   KYCAction = "reject"
)

// kycTransitions are all transitions and who may make them; docs/architecture.md draws them.
var kycTransitions = []struct {
	from     KYCState
	action   KYCAction
	operator bool // false: the coach
	to       KYCState
}{
	{NotStarted, Submit, false, Submitted},
	{Rejected, Submit, false, Submitted},
	{Submitted, Withdraw, false, NotStarted},
	{Submitted, Approve, true, Verified},
	{Submitted, Reject, true, Rejected},
}

// ByOperator reports whether the action is an operator's; otherwise it is the coach's.
func (a KYCAction) ByOperator() bool {
	for _, c := range kycTransitions {
		if c.action == a {
			return c.operator
		}
	}
	return false
}

// Next returns the state after action, or an invalid_transition with the state and
// the actions that the same actor could take instead.
func (s KYCState) Next(a KYCAction) (KYCState, error) {
	for _, c := range kycTransitions {
		if c.from == s && c.action == a {
			return c.to, nil
		}
	}
	return s, fault.New(fault.Conflict, "invalid_transition", "This is not possible while the verification is %s.", s.text()).
		With("state", string(s)).With("allowed", s.Allowed(a.ByOperator()))
}

// Allowed returns the actions that an operator, or the coach, may take in s.
func (s KYCState) Allowed(operator bool) []KYCAction {
	allowed := []KYCAction{}
	for _, c := range kycTransitions {
		if c.from == s && c.operator == operator {
			allowed = append(allowed, c.action)
		}
	}
	return allowed
}

// text returns s in words for people.
func (s KYCState) text() string {
	switch s {
	case NotStarted:
		return "not started"
	case Disabled:
		return "switched off"
	}
	return string(s)
}
