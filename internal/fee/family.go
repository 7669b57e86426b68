package fee

import (
	"cmp"
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// FamilyFee is a fee as the party of a player sees it.
type FamilyFee struct {
	*Fee
	// Payee is nil unless the party can pay the balance by UPI.
	Payee *Payee
}

// family is what the fees of a player depend on for a party that has approved.
type family struct {
	link *team.Link
	// payee is the coach as the receiver of payments, nil unless the party has the service
	// digital_payments.
	payee *Payee
}

// loadFamily reads the link of the caller to a player. A player that is not linked to the caller is
// not_found; then the error of team.Access follows.
func (s *Service) loadFamily(ctx context.Context, tx *store.Tx, by actor.Actor, playerID string) (family, error) {
	link, err := s.Consent.Link(ctx, tx, by, playerID, team.App)
	if err != nil {
		return family{}, err
	}
	enabled, err := s.Consent.Enabled(ctx, tx, []string{playerID})
	if err != nil || enabled(playerID, by.Role, link.GuardianID, team.DigitalPayments) != team.Granted {
		return family{link: link}, err
	}
	payee := &Payee{}
	err = tx.QueryRow(ctx, `
		SELECT c.name, c.upi_id, c.upi_changed_at, a.suspended_at IS NOT NULL
		FROM coaches c JOIN accounts a ON a.id = c.id WHERE c.id = $1`, link.CoachID).
		Scan(database.IntoText(&payee.Name), database.IntoText(&payee.UPIID), database.IntoTime(&payee.ChangedAt), &payee.Suspended)
	if err != nil && !database.IsNoRows(err) {
		return family{}, fmt.Errorf("read payee: %w", err)
	}
	return family{link, payee}, nil
}

// see returns a fee as the party sees it.
func (f family) see(fee *Fee) FamilyFee {
	seen := FamilyFee{Fee: fee}
	if f.payee != nil && f.payee.CanPay(fee) {
		seen.Payee = f.payee
	}
	return seen
}

// ListForFamily lists the fees of a player for the calling guardian or student, the latest due date
// first, without void ones. It reads one state of the database, so that no fee is listed after a
// revocation has committed.
func (s *Service) ListForFamily(ctx context.Context, by actor.Actor, playerID string, p Page) (seen []FamilyFee, err error) {
	position := cmp.Or(p.After, latest)
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		party, err := s.loadFamily(ctx, tx, by, playerID)
		if err != nil {
			return err
		}
		rs, err := tx.Query(ctx, selectFees+`
			WHERE f.player_id = $1 AND f.status <> 'void' AND (f.due_on, f.id) < ($2, $3)
			ORDER BY f.due_on DESC, f.id DESC LIMIT $4`, playerID, string(position.DueOn), position.ID, p.Limit)
		seen, err = database.Collect(rs, err, func(row database.Scanner) (FamilyFee, error) {
			f, err := s.scan(row)
			return party.see(f), err
		})
		return err
	})
	return seen, err
}

// FeeForFamily returns a fee of a player with its payments for the calling guardian or student. A
// void one is not_found.
func (s *Service) FeeForFamily(ctx context.Context, by actor.Actor, playerID, feeID string) (seen FamilyFee, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		party, f, err := s.readForFamily(ctx, tx, by, playerID, feeID)
		if err != nil {
			return err
		}
		seen = party.see(f)
		return nil
	})
	return seen, err
}
