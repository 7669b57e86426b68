package coach

import (
	"slices"

	"github.com/touchline/touchline/internal/fault"
)

// KYCState is where the verification of a coach's identity stands.
type KYCState string

// The states. Disabled is every coach's while the setting KYC is off; it is never
// kept, and nothing moves from it.
const (
	Disabled   KYCState = "disabled"
	NotStarted KYCState = "not_started"
	Submitted  KYCState = "submitted"
	Verified   KYCState = "verified"
	Rejected   KYCState = "rejected"
	// Withdrawn is a submission's alone: the coach is at NotStarted then.
	Withdrawn KYCState = "withdrawn"
)

// KYCMove is what moves a verification.
type KYCAction string

// The moves. A coach withdraws by deleting a document that a submission names,
// before it is decided.
const (
	Submit   KYCAction = "submit"
	Withdraw KYCAction = "withdraw"
	Approve  KYCAction = "approve"
	Reject   KYCAction = "reject"
)

// kycMoves are all the moves that there are, and who makes them: one that is not
// in it does not exist. docs/architecture.md draws it.
var kycTransitions = []struct {
	from     KYCState
	move     KYCAction
	operator bool // else the coach
	to       KYCState
}{
	{NotStarted, Submit, false, Submitted},
	{Rejected, Submit, false, Submitted},
	{Submitted, Withdraw, false, NotStarted},
	{Submitted, Approve, true, Verified},
	{Submitted, Reject, true, Rejected},
}

// ByOperator says whether m is an operator's to make; else it is the coach's.
func (m KYCAction) ByOperator() bool {
	for _, c := range kycTransitions {
		if c.move == m {
			return c.operator
		}
	}
	return false
}

// Next returns the state that follows s on m. Where none does it is an
// invalid_transition that names s and what the mover could do instead.
func (s KYCState) Next(m KYCAction) (KYCState, error) {
	for _, c := range kycTransitions {
		if c.from == s && c.move == m {
			return c.to, nil
		}
	}
	return s, fault.New(fault.Conflict, "invalid_transition", "This is not possible while the verification is %s.", s.text()).
		With("state", string(s)).With("allowed", s.Allowed(m.ByOperator()))
}

// Allowed lists what an operator, or the coach, can do from s.
func (s KYCState) Allowed(operator bool) []KYCAction {
	allowed := []KYCAction{}
	for _, c := range kycTransitions {
		if c.from == s && c.operator == operator {
			allowed = append(allowed, c.move)
		}
	}
	return allowed
}

// From lists the states from which m is possible: what a statement that carries
// out m is guarded by.
func (m KYCAction) From() []KYCState {
	var from []KYCState
	for _, c := range kycTransitions {
		if c.move == m && !slices.Contains(from, c.from) {
			from = append(from, c.from)
		}
	}
	return from
}

// words writes s for people.
func (s KYCState) text() string {
	switch s {
	case NotStarted:
		return "not started"
	case Disabled:
		return "switched off"
	}
	return string(s)
}
