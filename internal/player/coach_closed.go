package player

import (
	"context"
	"slices"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// closureBatch is the number of players or accounts in one statement.
const closureBatch = 100

// closure is the closure of a coach's account in progress.
type closure struct {
	by         actor.Actor
	name       string
	players    []*approval.Player
	disputants []string // account ids
	// stopped are the accounts whose numbers want no messages of the coach.
	stopped map[string]bool
	hooks   Hooks
}

// CloseCoach implements store.Consents. It cancels the open requests and deletes the disputes, which
// no longer have an effect.
func (c Consents) CloseCoach(by actor.Actor, name string) store.CoachClosure {
	return &closure{by: by, name: name, hooks: c.Hooks}
}

// EndPlayers ends the coach's players, whatever their consents are now: the next
// decision about them finds no player.
func (c *closure) EndPlayers(ctx context.Context, tx *store.Tx) error {
	rs, err := tx.Query(ctx, `
		UPDATE players SET deleted_at = $2, version = version + 1, changes = changes + 1
		WHERE coach_id = $1 AND deleted_at IS NULL
		RETURNING id`, c.by.AccountID, database.Micros(tx.Now))
	ids, err := database.CollectTexts(rs, err)
	if err != nil {
		return err
	}
	known, err := knownPlayers(ctx, tx, c.by.AccountID, c.name)
	if err != nil {
		return err
	}
	err = tx.Defer(ctx, `
		UPDATE parties SET deleted_at = $2
		WHERE coach_id = $1 AND deleted_at IS NULL AND EXISTS (SELECT 1 FROM players p WHERE p.id = parties.player_id AND p.deleted_at IS NOT NULL)`, c.by.AccountID, database.Micros(tx.Now))
	if err != nil {
		return err
	}
	var changes []approval.ConsentChange
	for _, id := range ids {
		after := known[id].Copy()
		after.DeletedAt = tx.Now
		changes = append(changes, after.ConsentChanges(known[id], approval.Change{By: c.by}, tx.DB().NewID, tx.Now)...)
		c.players = append(c.players, known[id])
	}
	if err := c.hooks.recordConsents(ctx, tx, changes); err != nil {
		return err
	}
	return addChangeOfEach(ctx, tx, ids, string(approval.PlayerRemoved))
}

// EndRequests cancels the open requests and their queued deliveries, and deletes the notifications
// about the players and the disputes.
func (c *closure) EndRequests(ctx context.Context, tx *store.Tx) error {
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
			ids = append(ids, p.ID)
		}
		inBatch := database.Params(1, len(ids))
		_, err := tx.Exec(ctx, `
			DELETE FROM notifications WHERE player_id IN (`+inBatch+`) AND account_id IN (
				SELECT account_id FROM parties WHERE player_id IN (`+inBatch+`)
				UNION ALL SELECT approver_id FROM requests WHERE player_id IN (`+inBatch+`))`, ids...)
		if err != nil {
			return err
		}
	}
	if c.stopped, err = stoppedCoach(ctx, tx, coach); err != nil {
		return err
	}
	// A coach who registers again has other records of players, which no dispute finds: the numbers then count as stopped.
	err = tx.Defer(ctx, `
		INSERT INTO stopped_coaches (mobile_number, coach_id, stopped_at)
		SELECT DISTINCT a.mobile_number, d.coach_id, CAST($2 AS BIGINT) FROM disputes d JOIN accounts a ON a.id = d.approver_id
		WHERE d.coach_id = $1 AND a.mobile_number <> 'erased:' || a.id
		ON CONFLICT (mobile_number, coach_id) DO NOTHING`, coach, now)
	if err != nil {
		return err
	}
	rs, err := tx.Query(ctx, `DELETE FROM disputes WHERE coach_id = $1 RETURNING approver_id`, coach)
	c.disputants, err = database.CollectTexts(rs, err)
	return err
}

// Notify notifies the accounts that AccountClosure names, only in the app if the person stopped the coach, and
// ends the sessions of accounts without a role. Accounts are locked in the order of their ids, as everywhere.
func (c *closure) Notify(ctx context.Context, tx *store.Tx) error {
	effects := approval.AccountClosure(c.by.AccountID, c.name, c.players, c.disputants)
	for batch := range slices.Chunk(effects, closureBatch) {
		var events []event.Event
		var accounts []string
		for _, effect := range batch {
			accounts = append(accounts, effect.AccountID)
			if effect.Event != nil {
				effect.Event.AppOnly = c.stopped[effect.AccountID]
				events = append(events, *effect.Event)
			}
		}
		if err := notice.Notify(ctx, tx, events, accounts...); err != nil {
			return err
		}
		if err := auth.EndSessionsWithoutRole(ctx, tx, accounts); err != nil {
			return err
		}
	}
	return nil
}
