package player

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// Consents implements store.Consents.
type Consents struct {
	Rules approval.Rules
	Hooks Hooks
}

// TierChanged adds a change to each player with an approval if two stored tiers differ in
// app services: other services must learn that the availability is another.
func (c Consents) TierChanged(ctx context.Context, tx *store.Tx, coachID, before, after string) error {
	if c.Rules.SameServices(before, after) {
		return nil
	}
	// The next statement sees what concurrent decisions committed.
	if err := tx.Defer(ctx, `UPDATE players SET version = version WHERE coach_id = $1 AND deleted_at IS NULL`, coachID); err != nil {
		return err
	}
	rs, err := tx.Query(ctx, `
		UPDATE players SET changes = changes + 1
		WHERE coach_id = $1 AND deleted_at IS NULL AND EXISTS (SELECT 1 FROM parties a WHERE a.player_id = players.id AND a.state = 'approved')
		RETURNING id`, coachID)
	ids, err := database.CollectTexts(rs, err)
	if err != nil {
		return fmt.Errorf("count the changes of the players of coach %s: %w", coachID, err)
	}
	if err := newVersions(ctx, tx, `coach_id = $1`, coachID); err != nil { // a yes names the app services
		return err
	}
	return addChangeOfEach(ctx, tx, ids, string(approval.AvailabilityChanged))
}

// registerPlayer counts one more player of the coach. It counts before the limit is checked,
// so that concurrent requests see each other. The next statement sets the roster.
func registerPlayer(ctx context.Context, tx *store.Tx, coachID string, r *approval.Roster) error {
	err := tx.DeferRow(ctx, func(row database.Scanner) error {
		err := row.Scan(&r.Players, database.IntoText(&r.Tier), &r.KYC)
		if database.IsNoRows(err) {
			return fault.SessionEnded() // the account has closed since the session was read
		}
		return err
	}, `
		UPDATE coaches SET players = players + 1 WHERE id = $1
		RETURNING players, tier, kyc_state`, coachID)
	return fault.Wrap(err, "count players of coach %s", coachID)
}

// unregisterPlayer counts one player less.
func unregisterPlayer(ctx context.Context, tx *store.Tx, coachID string) error {
	err := tx.Defer(ctx, `UPDATE coaches SET players = players - 1 WHERE id = $1`, coachID)
	return fault.Wrap(err, "count players of coach %s", coachID)
}

// CheckNumber refuses a new number of a coach that a guardian or student of the coach's players has,
// unless AllowCoachAsContact.
func (c Consents) CheckNumber(ctx context.Context, tx *store.Tx, coachID string, to phone.Number) error {
	var isContact bool
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM accounts a JOIN parties p ON p.account_id = a.id AND p.deleted_at IS NULL
			WHERE a.mobile_number = $2 AND a.role <> 'coach' AND p.coach_id = $1)`,
		coachID, string(to)).Scan(&isContact)
	if err != nil {
		return err
	}
	return approval.CheckCoachNumber(isContact, c.Rules.AllowCoachAsContact)
}

// StoppedBy reports whether the number of a party of a player wants no messages of the calling coach outside of the
// app.
func (s *Service) StoppedBy(ctx context.Context, by actor.Actor, playerID string, party actor.Role, guardianID string) (stopped bool, err error) {
	err = s.DB.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM parties a JOIN stopped_coaches st ON st.coach_id = a.coach_id AND st.mobile_number = a.number
			WHERE a.player_id = $1 AND a.coach_id = $2 AND a.role = $3 AND CASE WHEN CAST($4 AS TEXT) = '' THEN a.position = 1 ELSE a.guardian_id = $4 END AND a.deleted_at IS NULL)`,
		playerID, by.AccountID, string(party), guardianID).Scan(&stopped)
	return stopped, fault.Wrap(err, "read whether the %s stopped the coach", party)
}
