package player

import (
	"context"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// nextToward returns the trigger that leads from a state toward another one:
//
//	approved → rejected: revoke, ask, reject
//	rejected → revoked:  ask, approve, revoke
func nextToward(from, to approval.State) approval.Trigger {
	switch {
	case from == approval.Pending && to == approval.Rejected:
		return approval.Reject
	case from == approval.Pending:
		return approval.Approve
	case from == approval.Approved:
		return approval.Revoke
	}
	return approval.Ask
}

// Force brings the consent of a party to a state, step by step: it decides as the party and asks again as the coach, so
// history, messages and records are those of real decisions. It is for services for development.
func (s *Service) Force(ctx context.Context, playerID string, party actor.Role, guardianID string, to approval.State) (*approval.Player, error) {
	for {
		p, err := s.update(ctx, playerID, loadOptions{}, func(*approval.Player, approval.Operation) (approval.Change, error) { return approval.Change{}, nil })
		if err != nil {
			return nil, err
		}
		if !p.DeletedAt.IsZero() {
			return nil, fault.Missing()
		}
		approver := p.Find(party, guardianID)
		if approver == nil {
			return nil, fault.Missing()
		}
		if approver.Consent.State == to {
			return p, nil
		}
		if approver.AccountID == "" {
			return nil, fault.New(fault.Conflict, "no_contact_number", "There is no number for the %s. Add one first.", party)
		}
		trigger := nextToward(approver.Consent.State, to)
		if trigger == approval.Ask {
			_, _, err = s.Send(ctx, actor.Actor{AccountID: p.CoachID, Role: actor.Coach, Number: p.CoachNumber, Via: actor.ViaAPI}, playerID, party, approval.Patch{GuardianID: guardianID}, nil)
		} else {
			by := actor.Actor{AccountID: approver.AccountID, Role: party, Number: approver.Number, Via: actor.ViaAPI, SignedInAt: s.DB.Now()}
			err = s.DecideOnly(ctx, by, playerID, approval.Decision{Action: trigger})
		}
		if err != nil {
			return nil, err
		}
	}
}
