package player

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// CoachChanged implements store.Consents. The coach is half of the question:
//
//   - Each request that can be answered has a new version, so that no answer to the former name or picture counts.
//   - Each approved party has a record of the change, and is told, so that it can take its yes back. A removed picture
//     is recorded, but not told: it claims nothing.
//
// It changes the row of each player, so that concurrent changes of players, which have read the former name, run again. The
// number of statements grows with the approved parties only, by one for each closureBatch of them.
func (c Consents) CoachChanged(ctx context.Context, tx *store.Tx, coachID string, before, after store.CoachShown) error {
	if before.Name == after.Name && before.PictureHash == after.PictureHash { // the coach hides or shows the picture
		return newVersions(ctx, tx, `coach_id = $1`, coachID)
	}
	rs, err := tx.Query(ctx, `
		UPDATE players SET version = version + 1 WHERE coach_id = $1 AND deleted_at IS NULL RETURNING id`, coachID)
	ids, err := database.CollectTexts(rs, err)
	if err != nil {
		return fmt.Errorf("count the change of coach %s in the players: %w", coachID, err)
	}
	known, err := knownPlayers(ctx, tx, coachID, after.Name)
	if err != nil {
		return err
	}
	var changes []approval.ConsentChange
	var events []event.Event
	told := before.Name != after.Name || after.PictureHash != ""
	for _, id := range ids {
		p := known[id]
		for _, a := range p.Parties {
			if a.Consent.State != approval.Approved || a.AccountID == "" {
				continue
			}
			changes = append(changes, approval.ConsentChange{
				ID: tx.DB().NewID(), Kind: approval.ConsentCoachChanged, Party: a.Role, GuardianID: a.GuardianID, Before: approval.Approved, After: approval.Approved, Player: p, Consent: a.Consent, Version: p.Version, At: tx.Now,
			})
			if told {
				e := p.NewEvent(event.CoachChanged, &a)
				e.FormerCoach = before.Name
				events = append(events, e)
			}
		}
	}
	// Players before requests, as everywhere.
	if err := newVersions(ctx, tx, `coach_id = $1`, coachID); err != nil {
		return err
	}
	if err := c.Hooks.recordConsents(ctx, tx, changes); err != nil {
		return err
	}
	return notifyApproved(ctx, tx, coachID, events)
}

// notifyApproved notifies parties of a change of their coach, only in the app if the person stopped the coach.
func notifyApproved(ctx context.Context, tx *store.Tx, coachID string, events []event.Event) error {
	stopped, err := stoppedCoach(ctx, tx, coachID)
	if err != nil {
		return err
	}
	// Accounts are locked in the order of their ids.
	slices.SortStableFunc(events, func(a, b event.Event) int { return strings.Compare(a.PartyID, b.PartyID) })
	for batch := range slices.Chunk(events, closureBatch) {
		for i := range batch {
			batch[i].AppOnly = stopped[batch[i].PartyID]
		}
		if err := notice.Notify(ctx, tx, batch); err != nil {
			return err
		}
	}
	return nil
}

// knownPlayers returns the live players of a coach by id, with what records and notifications say about them.
func knownPlayers(ctx context.Context, tx *store.Tx, coachID, coachName string) (map[string]*approval.Player, error) {
	rs, err := tx.Query(ctx, `
		SELECT p.id, p.version, p.student_name, p.date_of_birth, p.guardian_rule, p.created_at, a.role, a.guardian_id, a.position, a.name, a.relationship, a.number, a.email, a.account_id,
			a.state, a.changed_at, a.pending_since, a.pending_reason, a.refused
		FROM parties a JOIN players p ON p.id = a.player_id
		WHERE a.coach_id = $1 AND a.deleted_at IS NULL`, coachID)
	players, positions := map[string]*approval.Player{}, map[string][]int{}
	err = database.Each(rs, err, func(row database.Scanner) error {
		p := &approval.Player{CoachID: coachID, CoachName: coachName}
		var a approval.Party
		var born string
		var position int
		err := row.Scan(&p.ID, &p.Version, &p.Student.FullName, &born, &p.Rule, database.IntoTime(&p.CreatedAt), &a.Role, &a.GuardianID, &position, database.IntoText(&a.Name), database.IntoText(&a.Relationship),
			database.IntoText((*string)(&a.Number)), database.IntoText(&a.Email), database.IntoText(&a.AccountID),
			&a.Consent.State, database.IntoTime(&a.Consent.ChangedAt), database.IntoTime(&a.Consent.PendingSince), database.IntoText((*string)(&a.Consent.PendingReason)), &a.Consent.Refused)
		if err != nil {
			return err
		}
		p.Student.DateOfBirth, err = approval.ParseDate(born)
		if err != nil {
			return err
		}
		if known := players[p.ID]; known != nil {
			p = known
		}
		if a.Role == actor.Student {
			position = maxPosition
		}
		at, _ := slices.BinarySearch(positions[p.ID], position)
		positions[p.ID], p.Parties = slices.Insert(positions[p.ID], at, position), slices.Insert(p.Parties, at, a)
		players[p.ID] = p
		return nil
	})
	return players, fault.Wrap(err, "read the players of coach %s", coachID)
}

// newVersions gives requests a new version: those that are open or disputed, which can be open again, and those of a former yes
// whose proof ended. where is a condition on coach_id or player_id, of a request or a party, with the argument $1.
func newVersions(ctx context.Context, tx *store.Tx, where, arg string) error {
	for _, answerable := range []string{`state = 'pending' AND ` + where, `state = 'disputed' AND ` + where, outbox.OfEndedYes + where + `)`} {
		err := tx.Defer(ctx, `UPDATE requests SET version = version + 1 WHERE `+answerable, arg)
		if err != nil {
			return fmt.Errorf("give requests a new version: %w", err)
		}
	}
	return nil
}

// BatchChanged gives the requests about the players of a batch a new version, after a change of its name or archiving.
func BatchChanged(ctx context.Context, tx *store.Tx, batchID string) error {
	return newVersions(ctx, tx, `player_id IN (SELECT m.player_id FROM batch_players m WHERE m.batch_id = $1 AND m.left_at IS NULL)`, batchID)
}

// BatchesChanged gives the requests about a player a new version, after the player joined or left a batch.
func BatchesChanged(ctx context.Context, tx *store.Tx, playerID string) error {
	return newVersions(ctx, tx, `player_id = $1`, playerID)
}

// stoppedCoach returns the accounts whose numbers want no messages of a coach.
func stoppedCoach(ctx context.Context, tx *store.Tx, coachID string) (map[string]bool, error) {
	rs, err := tx.Query(ctx, `
		SELECT a.id FROM stopped_coaches s JOIN accounts a ON a.mobile_number = s.mobile_number WHERE s.coach_id = $1`, coachID)
	ids, err := database.CollectTexts(rs, err)
	stopped := make(map[string]bool, len(ids))
	for _, id := range ids {
		stopped[id] = true
	}
	return stopped, err
}

// CoachRenaming implements store.Consents: it tells each approved party that the coach wants to be called after from a
// time on.
func (Consents) CoachRenaming(ctx context.Context, tx *store.Tx, coachID, before, after string, from time.Time) error {
	known, err := knownPlayers(ctx, tx, coachID, after)
	if err != nil {
		return err
	}
	var events []event.Event
	for _, id := range slices.Sorted(maps.Keys(known)) {
		p := known[id]
		for _, a := range p.Parties {
			if a.Consent.State == approval.Approved && a.AccountID != "" {
				e := p.NewEvent(event.CoachRenaming, &a)
				e.FormerCoach, e.Day = before, from.UTC().Format(time.DateOnly)
				events = append(events, e)
			}
		}
	}
	return notifyApproved(ctx, tx, coachID, events)
}
