package player

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Standing is how the question of a message stands for the account that it asked.
type Standing string

// The standings. The account can answer an Open question and one of ProofEnded (approval.Party.ProofEnded). Replaced has a newer question
// that the account can answer. An account that is NotAsked is no party of the player any more: it learns nothing about either.
const (
	StandsOpen       Standing = "open"
	StandsProofEnded Standing = "proof_ended"
	StandsReplaced   Standing = "replaced"
	StandsNotAsked   Standing = "not_asked"
	StandsDisputed   Standing = "disputed"
	StandsApproved   Standing = "approved"
	StandsRejected   Standing = "rejected"
	StandsClosed     Standing = "closed"
)

// Asked is the request of a message with a question, the account that it asked, and what the account is now.
type Asked struct {
	RequestID, PlayerID string
	By                  actor.Actor
	state               approval.RequestState
	suspended           bool
	// party is the party of the player that the account is now, with its newest request.
	isParty bool
	party   approval.Party
	newest  approval.Request
}

// AskedColumns scans into Asked.Dest. AskedJoins joins the account with the number $2 and the player p to the request r, and n, the newest
// request of the party that the account is now.
const (
	AskedColumns = `r.id, r.player_id, r.state, a.id, a.role, a.mobile_number, a.suspended_at IS NOT NULL, o.player_id IS NOT NULL, o.state, o.pending_reason, n.id, n.state`
	AskedJoins   = `
		JOIN accounts a ON a.id = r.approver_id AND a.mobile_number = $2
		JOIN players p ON p.id = r.player_id
		LEFT JOIN parties o ON o.player_id = p.id AND o.role = r.approver_type AND o.account_id = r.approver_id AND o.deleted_at IS NULL
		LEFT JOIN requests n ON n.id = o.request_id`
)

// Dest returns where AskedColumns are scanned.
func (a *Asked) Dest() []any {
	return []any{
		&a.RequestID, &a.PlayerID, &a.state, &a.By.AccountID, &a.By.Role, &a.By.Number, &a.suspended, &a.isParty,
		database.IntoText((*string)(&a.party.Consent.State)), database.IntoText((*string)(&a.party.Consent.PendingReason)),
		database.IntoText(&a.newest.ID), database.IntoText((*string)(&a.newest.State)),
	}
}

// Standing returns how the question stands. What counts is the newest question to the party and its answer, not the
// answer to the question of the message.
func (a Asked) Standing() Standing {
	a.party.Request = &a.newest
	open, proofEnded := a.party.OpenRequest() != nil, a.party.ProofEnded()
	if a.suspended {
		open, proofEnded = false, false
	}
	switch newest := a.newest.ID == a.RequestID; {
	case (open || proofEnded) && !newest:
		return StandsReplaced
	case open:
		return StandsOpen
	case proofEnded:
		return StandsProofEnded
	case a.state == approval.RequestDisputed:
		return StandsDisputed
	case !a.isParty:
		return StandsNotAsked
	case a.party.Consent.State == approval.Approved:
		return StandsApproved
	case a.party.Consent.State == approval.Rejected:
		return StandsRejected
	}
	return StandsClosed
}

// CanAnswer reports whether the account can answer the question.
func (a Asked) CanAnswer() bool {
	s := a.Standing()
	return s == StandsOpen || s == StandsProofEnded
}

// AnsweredNames replaces the names of a coach and a student, as they are now, with those in the newest answer of the
// account. They stay if it is not known what that answer was shown.
func (s *Service) AnsweredNames(ctx context.Context, a Asked, coach, student *string) error {
	var r approval.Record
	var sealed []byte
	err := s.DB.QueryRow(ctx, `
		SELECT h.id, k.sealed FROM approval_history h LEFT JOIN record_keys k ON k.record_id = h.id
		WHERE h.player_id = $1 AND h.approver_id = $2 ORDER BY h.decided_at DESC, h.id DESC LIMIT 1`, a.PlayerID, a.By.AccountID).Scan(&r.ID, &sealed)
	if database.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return fault.Wrap(err, "read the newest answer of account %s", a.By.AccountID)
	}
	r.Sealed = string(sealed)
	history := []approval.Record{r}
	s.openShown(history)
	if w := history[0].Wording; w.Known() {
		*coach, *student = w.CoachName, w.StudentName
	}
	return nil
}
