package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/team"
)

var (
	_ team.FamilyFeeStore   = (*DB)(nil)
	_ team.FeeReminderStore = (*DB)(nil)
)

// FamilyFees lists the fees of a player for a party that has approved. It reads one state of the
// database, so that no fee is listed after a revocation has committed.
func (db *DB) FamilyFees(ctx context.Context, by actor.Actor, playerID string, p team.FeePage) (r team.FamilyFees, err error) {
	position := p.After
	if position.ID == "" {
		position = team.FeePosition{DueOn: lastDate, ID: lastID}
	}
	err = db.view(ctx, func(tx *tx) error {
		if r, err = tx.familyFees(ctx, by, playerID); err != nil {
			return err
		}
		rs, err := tx.Query(ctx, feeSelect+`
			WHERE f.player_id = $1 AND f.status <> 'void' AND (f.due_on, f.id) < ($2, $3)
			ORDER BY f.due_on DESC, f.id DESC LIMIT $4`, playerID, string(position.DueOn), position.ID, p.Limit)
		if r.Fees, err = database.Collect(rs, err, scanFee); err != nil {
			return fmt.Errorf("list fees of player %s: %w", playerID, err)
		}
		return nil
	})
	return r, err
}

// FamilyFee returns a fee of a player with its payments for a party that has approved.
func (db *DB) FamilyFee(ctx context.Context, by actor.Actor, playerID, feeID string) (r team.FamilyFees, err error) {
	err = db.view(ctx, func(tx *tx) error {
		if r, err = tx.familyFees(ctx, by, playerID); err != nil {
			return err
		}
		f, err := tx.fee(ctx, r.Link.CoachID, feeID)
		if err == nil && (f.PlayerID != playerID || f.Status == team.FeeVoid) {
			err = fault.Missing()
		}
		r.Fees = []*team.Fee{f}
		return err
	})
	return r, err
}

// familyFees reads the link of the party by to a player, and the payee, or returns the error of
// team.Access if the party may not see the fees.
func (tx *tx) familyFees(ctx context.Context, by actor.Actor, playerID string) (team.FamilyFees, error) {
	link, err := tx.link(ctx, by, playerID, team.App)
	if err != nil {
		return team.FamilyFees{}, err
	}
	r := team.FamilyFees{Link: *link}
	enabled, err := tx.enabled(ctx, []string{playerID})
	if err != nil {
		return r, err
	}
	r.Payments = enabled(playerID, by.Role, team.DigitalPayments)
	err = tx.QueryRow(ctx, `
		SELECT c.name, c.upi_id, c.upi_changed_at, a.suspended_at IS NOT NULL
		FROM coaches c JOIN accounts a ON a.id = c.id WHERE c.id = $1`, link.CoachID).
		Scan(intoText(&r.Payee.Name), intoText(&r.Payee.UPIID), intoTime(&r.Payee.ChangedAt), &r.Payee.Suspended)
	if err != nil && !isNoRows(err) {
		return r, fmt.Errorf("read payee: %w", err)
	}
	return r, nil
}
