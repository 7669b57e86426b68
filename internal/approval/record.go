package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store"
)

// ConsentKind says what happened to the consent of a party.
type ConsentKind string

// The kinds besides Approve, Reject and Revoke, which are the decisions of the party.
const (
	// ConsentAsked: a request to the party was opened.
	ConsentAsked ConsentKind = "asked"
	// ConsentDisputed: the recipient of the request says "this isn't me".
	ConsentDisputed ConsentKind = "disputed"
	// ConsentDisputeLifted: the dispute ended.
	ConsentDisputeLifted ConsentKind = "dispute_lifted"
	// ConsentContactReset: the party has another number, and its consent is pending again.
	ConsentContactReset ConsentKind = "reset_by_number"
	// ConsentStudentReset: the student has another name or birth date, and the consent is pending again.
	ConsentStudentReset ConsentKind = "reset_by_student"
	// ConsentAdultReset: the student became an adult and has not approved, so the guardian's consent is
	// pending again.
	ConsentAdultReset ConsentKind = "reset_by_18"
	// ConsentGuardianEnded: the adult student ended the guardian's view.
	ConsentGuardianEnded ConsentKind = "ended_by_student"
	// ConsentLeft: the party deleted its account.
	ConsentLeft ConsentKind = "left"
	// ConsentServiceReset: the record of the approval contradicted it, and the consent is pending again.
	ConsentServiceReset ConsentKind = "reset_by_service"
	// ConsentRemoved: the coach removed the player, or closed the account.
	ConsentRemoved ConsentKind = "removed"
	// ConsentErased: the data of a removed player was erased.
	ConsentErased ConsentKind = "erased"
)

// Removed is the state of the consents of a removed player in records. It is no state of a player.
const Removed State = "removed"

// ConsentChange is one change of the consent of a party.
type ConsentChange struct {
	// ID identifies the change; of a decision it is the ID of the history record.
	ID            string
	Kind          ConsentKind
	Party         actor.Role
	Before, After State
	// Player has the names, the birth date and the number that the change concerns: those before the
	// change if the change of them reset the consent.
	Player *Player
	// Version is the version of the player with the change.
	Version   int64
	RequestID string
	Reason    string
	At        time.Time
	// By made the change; empty if the service or an operator did.
	By actor.Actor
	// Wording is what the party read or heard before a decision or dispute.
	Wording Wording
}

// consentChanges returns the changes of consents from before to p, which c describes. before is
// nil for a new player. A party without a number was never asked, and has no consent to change.
func (p *Player) consentChanges(before *Player, c Change, newID func() string, now time.Time) []ConsentChange {
	var changes []ConsentChange
	add := func(kind ConsentKind, party actor.Role, about *Player) *ConsentChange {
		change := ConsentChange{
			ID: newID(), Kind: kind, Party: party, Before: Pending, After: p.Approver(party).Consent.State,
			Player: about, Version: p.Version, RequestID: requestID(*about.Approver(party)), At: now, By: c.By,
		}
		if before != nil {
			change.Before = before.Approver(party).Consent.State
		}
		if kind == ConsentRemoved {
			change.After = Removed
		}
		changes = append(changes, change)
		return &changes[len(changes)-1]
	}
	for _, party := range Parties {
		after := p.Approver(party)
		if before != nil && before.Approver(party).AccountID != "" {
			was := before.Approver(party)
			switch {
			case before.DeletedAt.IsZero() && !p.DeletedAt.IsZero():
				add(ConsentRemoved, party, before)
			case was.AccountID != after.AccountID && c.By.Role == party:
				left := add(ConsentLeft, party, before)
				left.Wording, left.At = c.Wording, after.Consent.PendingSince // after the decision of the same transaction
			case was.AccountID != after.AccountID && p.Guardian == nil && c.By.Role == actor.Student:
				add(ConsentGuardianEnded, party, before)
			case was.AccountID != after.AccountID:
				add(ConsentContactReset, party, before)
			case after.Consent.PendingReason == PendingUnproved && was.Consent.State != after.Consent.State:
				add(ConsentServiceReset, party, before)
			case after.Consent.PendingReason == PendingStudent && !was.Consent.PendingSince.Equal(after.Consent.PendingSince):
				add(ConsentStudentReset, party, before)
			case after.Consent.PendingReason == PendingAdult && was.Consent.State == Approved:
				add(ConsentAdultReset, party, before)
			}
		}
		switch {
		case c.History != nil && c.History.Party == party:
			d := add(ConsentKind(c.History.Action), party, p)
			d.ID, d.Reason, d.At, d.RequestID, d.Wording = c.History.ID, c.History.Reason, c.History.At, c.History.RequestID, c.History.Wording
		case c.Dispute != nil && c.Dispute.Party == party:
			add(ConsentDisputed, party, p).Wording = c.Wording
		case c.Lift == party:
			add(ConsentDisputeLifted, party, p)
		}
		for _, r := range c.Opened {
			if r.Party == party {
				asked := add(ConsentAsked, party, p)
				if len(changes) > 1 && changes[len(changes)-2].Party == party {
					asked.Before = Pending // after the reset
				}
			}
		}
	}
	return changes
}

// recordConsents runs Hooks.ConsentChanged.
func (h Hooks) recordConsents(ctx context.Context, tx *store.Tx, changes []ConsentChange) error {
	if h.ConsentChanged == nil || len(changes) == 0 {
		return nil
	}
	if err := h.ConsentChanged(ctx, tx, changes); err != nil {
		return fmt.Errorf("record changes of consents: %w", err)
	}
	return nil
}
