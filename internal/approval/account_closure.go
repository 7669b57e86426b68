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

// EndedPlayer is a player that ends because its coach closes the account.
type EndedPlayer struct {
	PlayerID     string
	StudentName  string
	GuardianName string
	Guardian     EndedApprover
	Student      EndedApprover
}

// EndedApprover is one party of an EndedPlayer. AccountID is empty if the party has
// no number.
type EndedApprover struct {
	AccountID string
	State     State
}

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
func AccountClosure(coachID, coachName string, players []EndedPlayer, disputants []string) []ClosureEffect {
	var effects []ClosureEffect
	for _, p := range players {
		for _, party := range Parties {
			approver := p.Guardian
			if party == actor.Student {
				approver = p.Student
			}
			if approver.AccountID == "" {
				continue
			}
			effect := ClosureEffect{AccountID: approver.AccountID}
			if approver.State == Approved {
				effect.Event = &event.Event{
					Type: event.CoachLeft, Party: party, PartyID: approver.AccountID,
					CoachID: coachID, CoachName: coachName,
					PlayerID: p.PlayerID, StudentName: p.StudentName, GuardianName: p.GuardianName,
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
	players    []EndedPlayer
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
		RETURNING id, student_name, guardian_name, guardian_id, guardian_state, student_id, student_state,
			version, date_of_birth, student_number, guardian_number, guardian_relationship, created_at,
			guardian_changed_at, guardian_pending_since, guardian_pending_reason, student_changed_at, student_pending_since, student_pending_reason`,
		c.by.AccountID, database.Micros(tx.Now))
	var changes []ConsentChange
	ended, err := database.Collect(rs, err, func(s database.Scanner) (p EndedPlayer, err error) {
		old := &Player{CoachID: c.by.AccountID, CoachName: c.name}
		var guardian Guardian
		var born string
		g, st := &old.GuardianApprover.Consent, &old.StudentApprover.Consent
		err = s.Scan(&p.PlayerID, &p.StudentName, database.IntoText(&p.GuardianName),
			database.IntoText(&p.Guardian.AccountID), &p.Guardian.State, database.IntoText(&p.Student.AccountID), &p.Student.State,
			&old.Version, &born, database.IntoText((*string)(&old.Student.Number)), database.IntoText((*string)(&guardian.Number)), database.IntoText(&guardian.Relationship), database.IntoTime(&old.CreatedAt),
			database.IntoTime(&g.ChangedAt), database.IntoTime(&g.PendingSince), database.IntoText((*string)(&g.PendingReason)),
			database.IntoTime(&st.ChangedAt), database.IntoTime(&st.PendingSince), database.IntoText((*string)(&st.PendingReason)))
		if err == nil {
			old.Student.DateOfBirth, err = ParseDate(born)
		}
		old.ID, old.Student.FullName, guardian.Name, old.Guardian = p.PlayerID, p.StudentName, p.GuardianName, &guardian
		for party, approver := range map[actor.Role]EndedApprover{actor.Guardian: p.Guardian, actor.Student: p.Student} {
			old.Approver(party).AccountID, old.Approver(party).Consent.State = approver.AccountID, approver.State
		}
		after := *old
		after.DeletedAt = tx.Now
		changes = append(changes, after.consentChanges(old, Change{By: c.by}, tx.DB().NewID, tx.Now)...)
		return p, err
	})
	if err != nil {
		return err
	}
	if err := c.hooks.recordConsents(ctx, tx, changes); err != nil {
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
			ids = append(ids, p.PlayerID)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM notifications WHERE player_id IN (`+database.Params(1, len(ids))+`)`, ids...); err != nil {
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
