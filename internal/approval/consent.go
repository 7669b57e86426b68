// Package approval has the rules of consent: players, the consent machines of the parties of
// each, the requests that ask for consent, the history that proves it, and the
// services that follow from it. It imports no database, and time is an argument. Package player
// loads and saves what it decides, and the worker sends the messages.
package approval

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// State is the state of one party's consent (spec section 3).
type State string

// The states. The API shows Revoked as the status "rejected".
const (
	Pending  State = "pending"
	Approved State = "approved"
	Rejected State = "rejected"
	Revoked  State = "revoked"
)

// Status returns the status of the spec's section 2.2 for s.
func (s State) Status() string {
	if s == Revoked {
		return string(Rejected)
	}
	return string(s)
}

// Trigger moves a consent from one state to another.
type Trigger string

// Approve, Reject and Revoke are triggers of the party and the actions in the
// history. Ask is the trigger of the coach: a resubmission after a rejection, or a
// request for re-approval after a revocation.
const (
	Approve Trigger = "approved"
	Reject  Trigger = "rejected"
	Revoke  Trigger = "revoked"
	Ask     Trigger = "ask"
)

// transitions is the whole machine, the same for guardian and student. All other
// pairs are invalid.
var transitions = map[State]map[Trigger]State{
	Pending:  {Approve: Approved, Reject: Rejected},
	Approved: {Revoke: Revoked},
	Rejected: {Ask: Pending},
	Revoked:  {Ask: Pending},
}

// Next returns the state after t, or an invalid_transition that lists the actions
// that the party may take instead.
func (s State) Next(t Trigger) (State, error) {
	next, ok := transitions[s][t]
	if !ok {
		return s, fault.New(fault.Conflict, "invalid_transition",
			"The response is %q. It cannot become %q now.", s, t).
			With("state", string(s)).With("allowed", s.Allowed())
	}
	return next, nil
}

// Allowed returns the actions that the party may take in s.
func (s State) Allowed() []string {
	possible := []string{}
	for _, t := range []Trigger{Approve, Reject, Revoke} {
		if _, ok := transitions[s][t]; ok {
			possible = append(possible, string(t))
		}
	}
	return possible
}

// targetState returns the state that a party's trigger leads to.
func (t Trigger) targetState() State { return State(t) }

// Consent is the response of one party. The consents of a player are independent.
type Consent struct {
	State State
	// ChangedAt is when the state last changed; zero before the first change.
	ChangedAt time.Time
	// PendingSince is when it last became pending, also for a new contact or
	// another student.
	PendingSince time.Time
	// PendingReason says why it is pending. It is empty in other states.
	PendingReason PendingReason
	// Refused says that the newest answer was a no, or took a yes back. A new request, number or name does not end it; a yes does.
	Refused bool
}

func (c Consent) Equal(other Consent) bool {
	return c.State == other.State && c.Refused == other.Refused && c.ChangedAt.Equal(other.ChangedAt) && c.PendingSince.Equal(other.PendingSince) && c.PendingReason == other.PendingReason
}

// PendingReason says why a consent is pending.
type PendingReason string

// The reasons.
const (
	// PendingAdded: the coach added the player, and the party has not answered since.
	PendingAdded PendingReason = "added"
	// PendingResent: the coach asked again after a rejection or revocation.
	PendingResent PendingReason = "resent_after_answer"
	// PendingContact: the number of the party changed.
	PendingContact PendingReason = "contact_changed"
	// PendingStudent: the name or birth date of the student changed.
	PendingStudent PendingReason = "student_changed"
	// PendingAdult: the student is an adult for 30 days and has not approved.
	PendingAdult PendingReason = "turned_18"
	// PendingUnproved: the record of the approval contradicted it, so the service no longer counts it.
	PendingUnproved PendingReason = "unproved"
	// PendingProof: the proof that the guardian is an adult ended, without which its yes does not count.
	PendingProof PendingReason = "proof_ended"
)

// move sets the state, its times and its reason. ChangedAt always increases, even if the clock steps back.
func (c *Consent) move(to State, now time.Time) {
	if c.State == to {
		return
	}
	c.State, c.ChangedAt = to, laterThan(c.ChangedAt, now)
	if to == Pending {
		c.PendingSince = now
		return
	}
	c.PendingReason, c.Refused = "", to != Approved
}

// standing returns the answer that counts for the services of the student: a no also while a new question is open.
func (c Consent) standing() State {
	if c.State == Pending && c.Refused {
		return Rejected
	}
	return c.State
}

// laterThan returns now, or the first microsecond after last if now is not later:
// clocks step back, and the clocks of two replicas differ.
func laterThan(last, now time.Time) time.Time {
	if now.After(last) {
		return now
	}
	return last.Add(time.Microsecond)
}

// restart makes the consent pending from now on.
func (c *Consent) restart(reason PendingReason, now time.Time) {
	c.move(Pending, now)
	c.PendingSince, c.PendingReason = now, reason
}

// Parties are the two roles, in the order in which lists name them.
var Parties = []actor.Role{actor.Guardian, actor.Student}
