// Package approval is the core of Touchline: players, the two consent machines
// of each, the requests that ask for consent, the history that proves it, and
// what is switched on for whom. It does no I/O but through its Store, and takes
// time as an argument. It leaves delivery to package notify and the workers.
package approval

import (
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
)

// State is where one party's consent stands (spec section 3).
type State string

// The states. Revoked reads as the status "rejected" (contract section 4).
const (
	Pending  State = "pending"
	Approved State = "approved"
	Rejected State = "rejected"
	Revoked  State = "revoked"
)

// Status returns the stored enum of the spec's section 2.2 for s.
func (s State) Status() string {
	if s == Revoked {
		return string(Rejected)
	}
	return string(s)
}

// Trigger is what moves a consent from one state to another.
type Trigger string

// The party's own triggers, which are also the actions of the history, and Ask,
// the coach's: a resubmission after a rejection, a request for re-approval
// after a revocation.
const (
	Approve Trigger = "approved"
	Reject  Trigger = "rejected"
	Revoke  Trigger = "revoked"
	Ask     Trigger = "ask"
)

// transitions is the whole machine, the same for guardian and student. A cell
// that is not here does not exist.
var transitions = map[State]map[Trigger]State{
	Pending:  {Approve: Approved, Reject: Rejected},
	Approved: {Revoke: Revoked},
	Rejected: {Ask: Pending},
	Revoked:  {Ask: Pending},
}

// Next returns the state that follows s on t, or an invalid_transition that
// names the state and the actions a party may still take.
func (s State) Next(t Trigger) (State, error) {
	next, ok := transitions[s][t]
	if !ok {
		return s, fault.New(fault.Conflict, "invalid_transition",
			"The answer stands at %q; it cannot become %q now.", s, t).
			With("state", string(s)).With("allowed", s.Allowed())
	}
	return next, nil
}

// Possible lists the actions that the party itself may take in s.
func (s State) Allowed() []string {
	possible := []string{}
	for _, t := range []Trigger{Approve, Reject, Revoke} {
		if _, ok := transitions[s][t]; ok {
			possible = append(possible, string(t))
		}
	}
	return possible
}

// result returns the state in which t has already taken effect.
func (t Trigger) targetState() State { return State(t) }

// Consent is one party's own answer. The two of a player never touch.
type Consent struct {
	State State
	// ChangedAt is when the state last changed; zero until it first does.
	ChangedAt time.Time
	// PendingSince is when it last became pending, or began anew for another
	// person or another child.
	PendingSince time.Time
}

// move sets the state and, where it is another, its times. It has changed after
// the change before, whatever the clock says.
func (c *Consent) move(to State, now time.Time) {
	if c.State == to {
		return
	}
	c.State, c.ChangedAt = to, laterThan(c.ChangedAt, now)
	if to == Pending {
		c.PendingSince = now
	}
}

// after returns now, or where that is not later than last, the next moment that
// is kept as another: clocks step back, and those of two replicas differ.
func laterThan(last, now time.Time) time.Time {
	if now.After(last) {
		return now
	}
	return last.Add(time.Microsecond)
}

// restart makes the consent pending for another person or about another child:
// it waits from now on, whatever it was.
func (c *Consent) restart(now time.Time) {
	c.move(Pending, now)
	c.PendingSince = now
}

// Parties are the two that answer, in the order in which lists name them.
var Parties = []actor.Role{actor.Guardian, actor.Student}
