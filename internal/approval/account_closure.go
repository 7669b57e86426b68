package approval

import (
	"context"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// ClosureEffect is the effect of the closure of a coach's account on one other account.
type ClosureEffect struct {
	AccountID string
	// Event notifies the account; nil if it is not notified.
	Event *event.Event
}

// AccountClosure returns the effect of a coach's account closure on every other
// account, ordered by account id:
//
//   - An account that approved gets one notification, which names all its students.
//   - An account that was only asked gets none, because its number may be wrong.
//   - An account that disputed a request gets none; disputes end with the account.
func AccountClosure(coachID, coachName string, players []*Player, disputants []string) []ClosureEffect {
	var effects []ClosureEffect
	for _, p := range players {
		for _, a := range p.Parties {
			if a.AccountID == "" {
				continue
			}
			effect := ClosureEffect{AccountID: a.AccountID}
			guardian := a.Name
			if a.Role != actor.Guardian {
				guardian = p.Party(actor.Guardian).Name
			}
			if a.Consent.State == Approved {
				effect.Event = &event.Event{
					Type: event.CoachLeft, Party: a.Role, PartyID: a.AccountID,
					CoachID: coachID, CoachName: coachName,
					PlayerID: p.ID, StudentName: p.Student.FullName, GuardianName: guardian,
				}
			}
			effects = append(effects, effect)
		}
	}
	for _, id := range disputants {
		effects = append(effects, ClosureEffect{AccountID: id})
	}
	slices.SortStableFunc(effects, func(a, b ClosureEffect) int { return strings.Compare(a.AccountID, b.AccountID) })
	return mergeByAccount(effects)
}

// mergeByAccount merges the sorted effects on the same account into one.
func mergeByAccount(effects []ClosureEffect) []ClosureEffect {
	var merged []ClosureEffect
	for _, e := range effects {
		last := len(merged) - 1
		switch {
		case last < 0 || merged[last].AccountID != e.AccountID:
			merged = append(merged, e)
		case merged[last].Event == nil:
			merged[last].Event = e.Event
		case e.Event != nil:
			merged[last].Event.OtherStudents = append(merged[last].Event.OtherStudents, e.Event.StudentName)
		}
	}
	return merged
}

// closureBatch is the number of players or accounts in one statement.
const closureBatch = 100

// closure is the closure of a coach's account in progress.
type closure struct {
	by         actor.Actor
	name       string
	players    []*Player
	disputants []string // account ids
	// stopped are the accounts whose numbers want no messages of the coach.
	stopped map[string]bool
	hooks   Hooks
}

// CloseCoach is store.Hooks.CloseCoach. It cancels the open requests and deletes the disputes, which
// no longer have an effect.
func (h Hooks) CloseCoach(by actor.Actor, name string) store.CoachClosure {
	c := &closure{by: by, name: name, hooks: h}
	return store.CoachClosure{EndPlayers: c.endPlayers, EndRequests: c.endRequests, Notify: c.notify}
}

// endPlayers ends the coach's players, whatever their consents are now: the next
// decision about them finds no player.
func (c *closure) endPlayers(ctx context.Context, tx *store.Tx) error {
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
	var changes []ConsentChange
	for _, id := range ids {
		after := known[id].Copy()
		after.DeletedAt = tx.Now
		changes = append(changes, after.consentChanges(known[id], Change{By: c.by}, tx.DB().NewID, tx.Now)...)
		c.players = append(c.players, known[id])
	}
	if err := c.hooks.recordConsents(ctx, tx, changes); err != nil {
		return err
	}
	return addChangeOfEach(ctx, tx, ids, string(PlayerRemoved))
}

// endRequests cancels the open requests and their queued deliveries, and deletes the notifications
// about the players and the disputes. It reads who stopped the coach, before the closure deletes that.
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
	rs, err := tx.Query(ctx, `DELETE FROM disputes WHERE coach_id = $1 RETURNING approver_id`, coach)
	if c.disputants, err = database.CollectTexts(rs, err); err != nil {
		return err
	}
	c.stopped, err = stoppedCoach(ctx, tx, coach)
	return err
}

// notify notifies the accounts that AccountClosure names, only in the app if the person stopped the coach, and
// ends the sessions of accounts without a role. Accounts are locked in the order of their ids, as everywhere.
func (c *closure) notify(ctx context.Context, tx *store.Tx) error {
	effects := AccountClosure(c.by.AccountID, c.name, c.players, c.disputants)
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
