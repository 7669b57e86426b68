package coach

import (
	"context"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
	"github.com/touchline/touchline/internal/store"
)

// queueNameCheck puts a coach into the queue of operators while a name waits, or while a verified coach has another name or
// picture than the confirmed ones. The coach's row is locked.
func queueNameCheck(ctx context.Context, tx *store.Tx, coachID string) error {
	err := tx.Defer(ctx, `
		UPDATE coaches SET name_check_at = CASE
			WHEN name_pending IS NOT NULL OR kyc_state = 'verified' AND (name IS DISTINCT FROM confirmed_name OR picture_id IS NOT NULL
				AND (SELECT d.sha256 FROM documents d WHERE d.id = coaches.picture_id) IS DISTINCT FROM confirmed_picture)
			THEN COALESCE(name_check_at, CAST($2 AS BIGINT)) END
		WHERE id = $1`, coachID, database.Micros(tx.Now))
	return fault.Wrap(err, "queue the name of coach %s", coachID)
}

// confirmLegalName confirms another name of a verified coach that is the legal name, which an operator has verified.
func confirmLegalName(ctx context.Context, tx *store.Tx, old Profile, p *Profile) error {
	if p.KYC != Verified || p.Name == old.Name || p.Name == p.ConfirmedName {
		return nil
	}
	legal, err := LegalName(ctx, tx, p.ID)
	if err == nil && legal != "" && FitsLegalName(p.Name, legal) {
		p.ConfirmedName = p.Name
	}
	return err
}

// LegalName returns the legal name that operators verified, or "".
func LegalName(ctx context.Context, tx *store.Tx, coachID string) (string, error) {
	var id string
	var sealed []byte
	err := tx.QueryRow(ctx, `
		SELECT id, legal_name FROM kyc_submissions WHERE coach_id = $1 AND state = 'verified' ORDER BY id DESC LIMIT 1`, coachID).Scan(&id, &sealed)
	if database.IsNoRows(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the legal name of coach %s: %w", coachID, err)
	}
	legal, err := tx.DB().Unseal(vault.ForKYC, sealed, id)
	return legal, fault.Wrap(err, "unseal the legal name of coach %s", coachID)
}

// errNotDue ends a transaction whose work another replica has done.
var errNotDue = errors.New("the name does not wait any more")

// TakeDueNames gives up to n coaches the names whose families were told long enough. It returns how many it found. Of
// replicas that find the same coach, one saves the name: the others see that none waits.
func (s *Service) TakeDueNames(ctx context.Context, n int) (int, error) {
	now := s.Now()
	rs, err := s.Store.DB.Query(ctx, `
		SELECT id FROM coaches WHERE name_takes_effect_at <= $1 ORDER BY name_takes_effect_at, id LIMIT $2`, database.Micros(now), n)
	due, err := database.CollectTexts(rs, err)
	if err != nil {
		return 0, fmt.Errorf("find names that take effect: %w", err)
	}
	for _, id := range due {
		err := s.Store.UpdateProfile(ctx, id, func(p Profile) (Profile, error) {
			if p.NamePending == "" || p.NameTakesEffectAt.After(now) {
				return p, errNotDue
			}
			p.TakeName(now)
			return p, nil
		})
		if err != nil && !errors.Is(err, errNotDue) {
			return 0, fmt.Errorf("give coach %s the new name: %w", id, err)
		}
	}
	return len(due), nil
}
