package approval

import (
	"context"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/store"
)

// TierChanged adds a change to each player with an approval if two stored tiers differ in
// app services: other services must learn that the availability is another.
func (r Rules) TierChanged(ctx context.Context, tx *store.Tx, coachID, before, after string) error {
	if r.SameServices(before, after) {
		return nil
	}
	rs, err := tx.Query(ctx, `
		UPDATE players SET changes = changes + 1
		WHERE coach_id = $1 AND deleted_at IS NULL AND (guardian_state = 'approved' OR student_state = 'approved')
		RETURNING id`, coachID)
	ids, err := database.CollectTexts(rs, err)
	if err != nil {
		return fmt.Errorf("count the changes of the players of coach %s: %w", coachID, err)
	}
	return addChangeOfEach(ctx, tx, ids, string(AvailabilityChanged))
}

// registerPlayer counts one more player of the coach. It counts before the limit is checked,
// so that concurrent requests see each other. The next statement sets the roster.
func registerPlayer(ctx context.Context, tx *store.Tx, coachID string, r *Roster) error {
	err := tx.DeferRow(ctx, func(row database.Scanner) error {
		err := row.Scan(&r.Players, database.IntoText(&r.Tier), &r.KYC)
		if database.IsNoRows(err) {
			return auth.ErrSessionEnded() // the account has closed since the session was read
		}
		return err
	}, `
		UPDATE coaches SET players = players + 1 WHERE id = $1
		RETURNING players, tier, kyc_state`, coachID)
	if err != nil {
		return fmt.Errorf("count players of coach %s: %w", coachID, err)
	}
	return nil
}

// unregisterPlayer counts one player less.
func unregisterPlayer(ctx context.Context, tx *store.Tx, coachID string) error {
	err := tx.Defer(ctx, `UPDATE coaches SET players = players - 1 WHERE id = $1`, coachID)
	if err != nil {
		return fmt.Errorf("count players of coach %s: %w", coachID, err)
	}
	return nil
}

// CheckNumber refuses a new number of a coach that a guardian or student of the coach's players has,
// unless AllowCoachAsContact.
func (r Rules) CheckNumber(ctx context.Context, tx *store.Tx, coachID string, to phone.Number) error {
	var isContact bool
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT 1 FROM accounts a JOIN players p ON p.guardian_id = a.id AND p.deleted_at IS NULL
				WHERE a.mobile_number = $2 AND a.role = 'guardian' AND p.coach_id = $1)
			OR EXISTS (SELECT 1 FROM accounts a JOIN players p ON p.student_id = a.id AND p.deleted_at IS NULL
				WHERE a.mobile_number = $2 AND a.role = 'student' AND p.coach_id = $1)`,
		coachID, string(to)).Scan(&isContact)
	if err != nil {
		return err
	}
	return CheckCoachNumber(isContact, r.AllowCoachAsContact)
}

// closureBatch is the number of players or accounts in one statement.
const closureBatch = 100

// closure is the closure of a coach's account in progress.
type closure struct {
	by         actor.Actor
	name       string
	players    []EndedPlayer
	disputants []string // account ids
}

// CloseCoach is store.Hooks.CloseCoach. It cancels the open requests and deletes the disputes, which
// no longer have an effect.
func CloseCoach(by actor.Actor, name string) store.CoachClosure {
	c := &closure{by: by, name: name}
	return store.CoachClosure{EndPlayers: c.endPlayers, EndRequests: c.endRequests, Notify: c.notify}
}

// endPlayers ends the coach's players, whatever their consents are now: the next
// decision about them finds no player.
func (c *closure) endPlayers(ctx context.Context, tx *store.Tx) error {
	rs, err := tx.Query(ctx, `
		UPDATE players SET deleted_at = $2, version = version + 1, changes = changes + 1
		WHERE coach_id = $1 AND deleted_at IS NULL
		RETURNING id, student_name, guardian_name, guardian_id, guardian_state, student_id, student_state`,
		c.by.AccountID, database.Micros(tx.Now))
	ended, err := database.Collect(rs, err, func(s database.Scanner) (p EndedPlayer, err error) {
		return p, s.Scan(&p.PlayerID, &p.StudentName, database.IntoText(&p.GuardianName),
			database.IntoText(&p.Guardian.AccountID), &p.Guardian.State, database.IntoText(&p.Student.AccountID), &p.Student.State)
	})
	if err != nil {
		return err
	}
	c.players = append(c.players, ended...)
	ids := make([]string, len(ended))
	for i, p := range ended {
		ids[i] = p.PlayerID
	}
	return addChangeOfEach(ctx, tx, ids, string(PlayerRemoved))
}

// endRequests cancels the open requests and their queued deliveries, and deletes the notifications
// about the players and the disputes.
func (c *closure) endRequests(ctx context.Context, tx *store.Tx) error {
	coach, now := c.by.AccountID, database.Micros(tx.Now)
	err := tx.Defer(ctx, `
		UPDATE deliveries SET state = 'failed', reason = $3, lease = NULL, updated_at = $2
		WHERE state = 'queued' AND request_id IN (SELECT id FROM requests WHERE coach_id = $1 AND state = 'pending')`,
		coach, now, message.ReasonRequestClosed)
	if err != nil {
		return err
	}
	err = tx.Defer(ctx, `UPDATE requests SET state = 'cancelled', closed_at = $2 WHERE coach_id = $1 AND state = 'pending'`, coach, now)
	if err != nil {
		return err
	}
	if err := tx.Defer(ctx, `DELETE FROM digests WHERE coach_id = $1`, coach); err != nil {
		return err
	}
	for batch := range slices.Chunk(c.players, closureBatch) {
		var ids []any
		for _, p := range batch {
			ids = append(ids, p.PlayerID)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM notifications WHERE player_id IN (`+database.Params(1, len(ids))+`)`, ids...); err != nil {
			return err
		}
	}
	rs, err := tx.Query(ctx, `DELETE FROM disputes WHERE coach_id = $1 RETURNING approver_id`, coach)
	c.disputants, err = database.CollectTexts(rs, err)
	return err
}

// notify notifies the accounts that AccountClosure names, and ends the sessions of accounts
// without a role. Accounts are locked in the order of their ids, as everywhere.
func (c *closure) notify(ctx context.Context, tx *store.Tx) error {
	effects := AccountClosure(c.by.AccountID, c.name, c.players, c.disputants)
	for batch := range slices.Chunk(effects, closureBatch) {
		var events []event.Event
		var accounts []string
		for _, effect := range batch {
			accounts = append(accounts, effect.AccountID)
			if effect.Event != nil {
				events = append(events, *effect.Event)
			}
		}
		if err := tx.Notify(ctx, events, accounts...); err != nil {
			return err
		}
		if err := tx.EndSessionsWithoutRole(ctx, accounts); err != nil {
			return err
		}
	}
	return nil
}
