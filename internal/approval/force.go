package approval

import (
	"context"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
)

// nextToward returns the trigger that leads from a state toward another one:
//
//	approved → rejected: revoke, ask, reject
//	rejected → revoked:  ask, approve, revoke
func nextToward(from, to State) Trigger {
	switch {
	case from == Pending && to == Rejected:
		return Reject
	case from == Pending:
		return Approve
	case from == Approved:
		return Revoke
	}
	return Ask
}

// Force brings the consent of a party to a state, step by step: it decides as the party and asks again as the coach, so
// history, messages and records are those of real decisions. It is for services for development.
func (s *Service) Force(ctx context.Context, playerID string, party actor.Role, guardianID string, to State) (*Player, error) {
	for {
		p, err := s.update(ctx, playerID, loadOptions{}, func(*Player, Operation) (Change, error) { return Change{}, nil })
		if err != nil {
			return nil, err
		}
		if !p.DeletedAt.IsZero() {
			return nil, fault.Missing()
		}
		approver, err := p.find(party, guardianID)
		if err != nil {
			return nil, err
		}
		if approver.Consent.State == to {
			return p, nil
		}
		if approver.AccountID == "" {
			return nil, fault.New(fault.Conflict, "no_contact_number", "There is no number for the %s. Add one first.", party)
		}
		trigger := nextToward(approver.Consent.State, to)
		if trigger == Ask {
			_, _, err = s.Send(ctx, actor.Actor{AccountID: p.CoachID, Role: actor.Coach, Number: p.CoachNumber, Via: actor.ViaAPI}, playerID, party, Patch{GuardianID: guardianID}, nil)
		} else {
			by := actor.Actor{AccountID: approver.AccountID, Role: party, Number: approver.Number, Via: actor.ViaAPI, SignedInAt: s.Now()}
			err = s.DecideOnly(ctx, by, playerID, Decision{Action: trigger})
		}
		if err != nil {
			return nil, err
		}
	}
}
