package approval

import (
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
)

// ConsentKind says what happened to the consent of a party.
type ConsentKind string

// The kinds besides Approve, Reject and Revoke, which are the decisions of the party.
const (
	// ConsentAdded: the coach added the player, and the party has no number to ask. The first record of another
	// party is ConsentAsked.
	ConsentAdded ConsentKind = "added"
	// ConsentAsked: a request to the party was opened.
	ConsentAsked ConsentKind = "asked"
	// ConsentCancelled: the request to the party was closed without an answer.
	ConsentCancelled ConsentKind = "cancelled"
	// ConsentCorrected: the player has another name, birth date, number or relationship, or the guardian another place
	// or rule now. The values are those after the change.
	ConsentCorrected ConsentKind = "corrected"
	// ConsentDisputed: the recipient of the request says "this isn't me".
	ConsentDisputed ConsentKind = "disputed"
	// ConsentDisputeLifted: the dispute ended.
	ConsentDisputeLifted ConsentKind = "dispute_lifted"
	// ConsentOldDisputeLifted: the dispute of a request ended that the account can no longer see. It changes that
	// request alone.
	ConsentOldDisputeLifted ConsentKind = "old_dispute_lifted"
	// ConsentContactReset: the party has another number, and its consent is pending again.
	ConsentContactReset ConsentKind = "reset_by_number"
	// ConsentStudentReset: the student has another name or birth date, and the consent is pending again.
	ConsentStudentReset ConsentKind = "reset_by_student"
	// ConsentAdultReset: the student became an adult and has not approved, so the guardian's consent is
	// pending again.
	ConsentAdultReset ConsentKind = "reset_by_18"
	// ConsentGuardianEnded: the adult student ended the guardian's view.
	ConsentGuardianEnded ConsentKind = "ended_by_student"
	// ConsentGuardianRemoved: the coach removed the guardian of a player who keeps others.
	ConsentGuardianRemoved ConsentKind = "guardian_removed"
	// ConsentLeft: the party deleted its account.
	ConsentLeft ConsentKind = "left"
	// ConsentServiceReset: the record of the approval contradicted it, and the consent is pending again.
	ConsentServiceReset ConsentKind = "reset_by_service"
	// ConsentProofReset: the proof that the guardian is an adult ended, and the consent is pending again.
	ConsentProofReset ConsentKind = "reset_by_proof"
	// ConsentRemoved: the coach removed the player, or closed the account.
	ConsentRemoved ConsentKind = "removed"
	// ConsentCoachChanged: the coach has another name or picture. The consent stays as it is.
	ConsentCoachChanged ConsentKind = "coach_changed"
	// ConsentErased: the data of a removed player was erased. ConsentAccountErased: that of an account was.
	ConsentErased        ConsentKind = "erased"
	ConsentAccountErased ConsentKind = "account_erased"
)

// Removed is the state of the consents of a removed player, or of a removed guardian, in records. It is no state of a
// player.
const Removed State = "removed"

// ConsentChange is one change of the consent of a party.
type ConsentChange struct {
	// ID identifies the change; of a decision it is the ID of the history record.
	ID            string
	Kind          ConsentKind
	Party         actor.Role
	GuardianID    string
	Before, After State
	// First says that it is the first change of the party, when the player or the guardian was added.
	First bool
	// Player has the names, the birth date and the number that the change concerns: those before the
	// change if the change of them reset the consent.
	Player *Player
	// Consent is the consent after the change.
	Consent Consent
	// Version is the version of the player with the change.
	Version   int64
	RequestID string
	Reason    string
	At        time.Time
	// By made the change; empty if the service or an operator did.
	By actor.Actor
	// CoachDevice says that the party approved on a device that had signed in as the coach.
	CoachDevice bool
	// Wording is what the party read or heard before a decision or dispute.
	Wording Wording
	// Proof is the proof with which a guardian said yes.
	Proof AdultProof
}

// ConsentChanges returns the changes of consents from before to p, which c describes. before is nil for a new player.
// What the newest change of a party says is what p has, so that the changes alone lead to p.
func (p *Player) ConsentChanges(before *Player, c Change, newID func() string, now time.Time) []ConsentChange {
	var changes []ConsentChange
	for i := range p.Parties {
		r := consentRecorder{Player: p, party: &p.Parties[i], change: c, newID: newID, state: Pending}
		var was *Party
		if before != nil {
			was = before.Find(r.party.Role, r.party.GuardianID)
		}
		if was == nil {
			r.record(nil, nil, now)
		} else {
			r.state = was.Consent.State
			r.record(before, was, now)
		}
		changes = append(changes, r.changes...)
	}
	if before == nil {
		return changes
	}
	for i := range before.Parties {
		was := &before.Parties[i]
		if p.Find(was.Role, was.GuardianID) == nil {
			r := consentRecorder{Player: p, party: was, change: c, newID: newID, state: was.Consent.State}
			r.ended(before, was, now)
			changes = append(changes, r.changes...)
		}
	}
	return changes
}

// consentRecorder collects the changes of one party. state is the one before the next change.
type consentRecorder struct {
	*Player
	party   *Party
	change  Change
	newID   func() string
	state   State
	changes []ConsentChange
}

func (r *consentRecorder) add(kind ConsentKind, about *Player, at time.Time) *ConsentChange {
	consent := r.party.Consent
	after := consent.State
	if kind == ConsentRemoved || r.Find(r.party.Role, r.party.GuardianID) == nil {
		after = Removed
	}
	r.changes = append(r.changes, ConsentChange{
		ID: r.newID(), Kind: kind, Party: r.party.Role, GuardianID: r.party.GuardianID, Before: r.state, After: after, Player: about, Consent: consent, Version: r.Version,
		RequestID: about.Find(r.party.Role, r.party.GuardianID).RequestID(), At: at, By: r.change.By,
	})
	r.state = after
	return &r.changes[len(r.changes)-1]
}

// ended adds the end of a removed guardian.
func (r *consentRecorder) ended(before *Player, was *Party, now time.Time) {
	kind := ConsentGuardianRemoved
	switch r.change.By.Role {
	case actor.Guardian:
		kind = ConsentLeft
	case actor.Student:
		kind = ConsentGuardianEnded
	}
	r.add(kind, before, laterThan(was.Consent.ChangedAt, now)).Wording = r.change.Wording
}

// record adds the changes from before, where the party was was: what ended the consent, then what the party or the
// coach did.
func (r *consentRecorder) record(before *Player, was *Party, now time.Time) {
	p, c := r.Player, r.change
	consent := r.party.Consent
	of := func(q *Request) bool {
		return q != nil && q.Party == r.party.Role && q.GuardianID == r.party.GuardianID
	}
	var reset ConsentKind
	corrected := false
	if before != nil {
		reset = p.resetSince(before, was, r.party, c)
		corrected = !samePerson(p, before, r.party, was) || p.Place(r.party) != before.Place(was)
	}
	switch reset {
	case "":
		if corrected {
			r.add(ConsentCorrected, p, now)
		}
	case ConsentRemoved:
		r.add(reset, before, p.DeletedAt)
	default:
		r.add(reset, before, consent.PendingSince).Wording = c.Wording // left: after the decision of the same transaction
	}
	closedByReset := reset != "" || of(c.Dispute)
	switch {
	case c.History != nil && c.History.Party == r.party.Role && c.History.GuardianID == r.party.GuardianID:
		d, h := r.add(ConsentKind(c.History.Action), p, c.History.At), c.History
		d.ID, d.Reason, d.RequestID, d.Wording, d.Proof = h.ID, h.Reason, h.RequestID, h.Wording, h.Proof
	case of(c.Dispute):
		r.add(ConsentDisputed, p, c.Dispute.ClosedAt).Wording = c.Wording
	case of(c.Lift):
		r.add(ConsentDisputeLifted, p, now)
	}
	for _, closed := range c.Closed {
		if of(closed) && closed.State == RequestCancelled && !closedByReset {
			r.add(ConsentCancelled, p, closed.ClosedAt).RequestID = closed.ID
		}
	}
	for _, opened := range c.Opened {
		if of(opened) {
			r.add(ConsentAsked, p, opened.RequestedAt).RequestID = opened.ID
		}
	}
	switch known := len(r.changes) > 0; {
	case before == nil:
		if !known {
			r.add(ConsentAdded, p, consent.PendingSince)
		}
		r.changes[0].First = true
	case reset == ConsentContactReset || reset == ConsentStudentReset:
		if len(r.changes) == 1 { // without a question no record has the new values
			r.add(ConsentCorrected, p, now)
		}
	case !known && !consent.Equal(was.Consent):
		r.add(ConsentCorrected, p, now)
	}
}

// resetSince says what ended the consent of a party since before, or "".
func (p *Player) resetSince(before *Player, was, after *Party, c Change) ConsentKind {
	switch {
	case before.DeletedAt.IsZero() && !p.DeletedAt.IsZero():
		return ConsentRemoved
	case was.AccountID == "": // it was never asked
		return ""
	case was.AccountID != after.AccountID && c.By.Role == after.Role:
		return ConsentLeft
	case was.AccountID != after.AccountID && after.Person == (Person{}) && c.By.Role == actor.Student:
		return ConsentGuardianEnded
	case was.AccountID != after.AccountID:
		return ConsentContactReset
	case after.Consent.PendingReason == PendingUnproved && was.Consent.State != after.Consent.State:
		return ConsentServiceReset
	case after.Consent.PendingReason == PendingProof && was.Consent.State == Approved:
		return ConsentProofReset
	case after.Consent.PendingReason == PendingStudent && !was.Consent.PendingSince.Equal(after.Consent.PendingSince):
		return ConsentStudentReset
	case after.Consent.PendingReason == PendingAdult && was.Consent.State == Approved:
		return ConsentAdultReset
	}
	return ""
}

// samePerson reports whether a and b have the same student, and x and y are the same person.
func samePerson(a, b *Player, x, y *Party) bool {
	if a.Student.FullName != b.Student.FullName || a.Student.DateOfBirth != b.Student.DateOfBirth {
		return false
	}
	return x.AccountID == y.AccountID && x.Number == y.Number && x.Name == y.Name && x.Relationship == y.Relationship
}
