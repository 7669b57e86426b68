package privacy

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// Also runs in the transaction that completes an erasure; nil does nothing.
type Also func(ctx context.Context, tx *store.Tx) error

// Run calls a.
func (a Also) Run(ctx context.Context, tx *store.Tx) error {
	if a == nil {
		return nil
	}
	return a(ctx, tx)
}

func isMissing(err error) bool { return fault.KindOf(err) == fault.NotFound }

// ErasePlayer removes a player, if its coach has not done so, and erases it now. It returns not_found for an unknown or
// erased player.
func (s *Service) ErasePlayer(ctx context.Context, id string, also Also) error {
	if err := s.RemovePlayer(ctx, id); err != nil && !isMissing(err) {
		return fmt.Errorf("remove player %s: %w", id, err)
	}
	if _, _, err := s.Player(ctx, id); err != nil {
		return err
	}
	_, err := erasePlayerAlso(ctx, s.DB, id, also)
	return err
}

// EraseAccount closes the account of a coach, or deletes that of a guardian or student, as they can themselves. It returns
// not_found for an unknown or erased account, and conflict for a suspended one.
func (s *Service) EraseAccount(ctx context.Context, id string, also Also) error {
	by, err := s.account(ctx, id)
	if err != nil {
		return err
	}
	if by.Role == actor.Coach {
		return s.CloseCoach(ctx, by, also)
	}
	return s.leave(ctx, by, "", "", also)
}

// account returns the actor of an account that is not closed.
func (s *Service) account(ctx context.Context, id string) (by actor.Actor, err error) {
	var suspended bool
	by.Via = actor.ViaOperator
	err = s.DB.QueryRow(ctx, `
		SELECT id, role, mobile_number, suspended_at IS NOT NULL FROM accounts WHERE id = $1 AND closed_at IS NULL`, id).
		Scan(&by.AccountID, &by.Role, (*string)(&by.Number), &suspended)
	if err != nil {
		return by, database.OrMissing(err, "read account "+id)
	}
	if suspended {
		return by, fault.New(fault.Conflict, "account_suspended", "This account is suspended, so its number stays. Restore it first.")
	}
	return by, nil
}

// PersonAccount is an account of a number. Players are those of a coach, or those that name a guardian or student.
type PersonAccount struct {
	Account actor.Actor
	Players int
}

// AccountsOf returns the accounts of a number, in the order of actor.Roles.
func (s *Service) AccountsOf(ctx context.Context, n phone.Number) (list []PersonAccount, err error) {
	for _, role := range actor.Roles {
		a := PersonAccount{Account: actor.Actor{Role: role, Number: n}}
		err := s.DB.QueryRow(ctx, `SELECT id FROM accounts WHERE mobile_number = $1 AND role = $2 AND closed_at IS NULL`, string(n), string(role)).Scan(&a.Account.AccountID)
		if database.IsNoRows(err) {
			continue
		}
		if err == nil {
			err = s.DB.QueryRow(ctx, `
				SELECT (SELECT count(*) FROM players WHERE coach_id = $1 AND deleted_at IS NULL)
					+ (SELECT count(*) FROM parties WHERE account_id = $1 AND deleted_at IS NULL)`, a.Account.AccountID).Scan(&a.Players)
		}
		if err != nil {
			return nil, fmt.Errorf("find the accounts of a number: %w", err)
		}
		list = append(list, a)
	}
	return list, nil
}

// Player returns the coach of a player that is not erased, and whether it was removed.
func (s *Service) Player(ctx context.Context, id string) (coachID string, removed bool, err error) {
	err = s.DB.QueryRow(ctx, `SELECT coach_id, deleted_at IS NOT NULL FROM players WHERE id = $1 AND erased_at IS NULL`, id).Scan(&coachID, &removed)
	return coachID, removed, database.OrMissing(err, "read player "+id)
}
