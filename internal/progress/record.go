// Package progress owns the measurements of players and the reports about them: their rules, SQL,
// JSON, pages, templates and texts.
package progress

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/player"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

// Service reads and changes records: measurements and reports. A player that is not the coach's is
// not_found, and so is one that a party is not linked to.
type Service struct {
	DB *store.DB
	// Consent are the rules that decide who has which service of a player.
	Consent      player.Access
	CheckFeature team.CheckFeature
}

// Now returns the time of the database.
func (s *Service) Now() time.Time { return s.DB.Now() }

// NewID returns a new identifier.
func (s *Service) NewID() string { return s.DB.NewID() }

// services has the app service with which a party sees a record, by the event of its addition.
var services = map[event.Type]team.AppService{event.ProgressAdded: team.ProgressTracking, event.ReportAdded: team.PerformanceReports}

// add saves a record with insert and notifies the parties. insert returns false if a record with this
// id was saved before. The lock of the player keeps the consents unchanged until the commit.
func (s *Service) add(ctx context.Context, e event.Event, insert func(*store.Tx) (added bool, err error)) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: e.RecordID, New: true}); err != nil {
			return err
		}
		var tier string
		rs, err := tx.Query(ctx, `
			SELECT p.student_name, (SELECT c.name FROM coaches c WHERE c.id = p.coach_id), (SELECT c.tier FROM coaches c WHERE c.id = p.coach_id),
				a.role, a.guardian_id, a.account_id
			FROM players p JOIN parties a ON a.player_id = p.id
			WHERE p.id = $1 AND p.coach_id = $2 AND p.deleted_at IS NULL ORDER BY a.role, a.position `+tx.ForShare("p, a"), e.PlayerID, e.CoachID)
		parties, err := database.Collect(rs, err, func(row database.Scanner) (a party, err error) {
			return a, row.Scan(&e.StudentName, database.IntoText(&e.CoachName), database.IntoText(&tier), &a.role, &a.guardianID, database.IntoText(&a.accountID))
		})
		if err == nil && len(parties) == 0 {
			err = fault.Missing()
		}
		if err != nil {
			return err
		}
		if err := s.CheckFeature(tier, string(services[e.Type])); err != nil {
			return err
		}
		added, err := insert(tx)
		if err != nil {
			return fmt.Errorf("save a record of player %s: %w", e.PlayerID, err)
		}
		if !added {
			return nil
		}
		enabled, err := s.Consent.Enabled(ctx, tx, []string{e.PlayerID})
		if err != nil {
			return err
		}
		told, err := notice.Tell(ctx, tx, toParties(e, parties, enabled))
		if err != nil {
			return err
		}
		_, err = notice.Record(ctx, tx, e.CoachID, e.RecordID, string(e.Type), []string{e.PlayerID}, told)
		return err
	})
}

// party is a party of a player.
type party struct {
	role                  actor.Role
	guardianID, accountID string
}

// toParties returns the event for each party that may see the record and has notifications in the app.
func toParties(e event.Event, parties []party, enabled team.Enabled) (events []event.Event) {
	for _, a := range parties {
		if enabled(e.PlayerID, a.role, a.guardianID, services[e.Type]) == team.Granted && enabled(e.PlayerID, a.role, a.guardianID, team.InAppNotifications) == team.Granted {
			e.Party, e.GuardianID, e.PartyID = a.role, a.guardianID, a.accountID
			events = append(events, e)
		}
	}
	return events
}

// view runs read with the coach of a player and the time from which the caller sees records: all for
// the coach.
func (s *Service) view(ctx context.Context, by actor.Actor, playerID string, service team.AppService, read func(tx *store.Tx, coachID string, since int64) error) error {
	return s.DB.View(ctx, func(tx *store.Tx) error {
		if by.Role == actor.Coach {
			if err := player.CheckPlayer(ctx, tx, by.AccountID, playerID); err != nil {
				return err
			}
			return read(tx, by.AccountID, 0)
		}
		l, err := s.Consent.Link(ctx, tx, by, playerID, service)
		if err != nil {
			return err
		}
		return read(tx, l.CoachID, s.Consent.VisibleSince(l))
	})
}

// RestoreWithin is how long a deleted record can be restored. Pages offer it for 10 s; a phone with a
// bad connection may send it later.
const RestoreWithin = 10 * time.Minute

// remove deletes a record and keeps it for restore; nothing else reads removed_records. The lock of
// the player keeps a concurrent removal of the player from leaving it behind.
func (s *Service) remove(ctx context.Context, by actor.Actor, kind, playerID, id string, remove func(*store.Tx) (any, error)) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		if err := player.LockPlayer(ctx, tx, by.AccountID, playerID); err != nil {
			return err
		}
		r, err := remove(tx)
		if err != nil {
			return database.OrMissing(err, "delete "+kind+" "+id)
		}
		content, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return tx.Defer(ctx, `
			INSERT INTO removed_records (id, coach_id, player_id, kind, content, removed_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (id) DO UPDATE SET content = excluded.content, removed_at = excluded.removed_at`,
			id, by.AccountID, playerID, kind, string(content), database.Micros(tx.Now))
	})
}

// restore adds a record again that was deleted within RestoreWithin, with its times and without a
// notification, or returns not_found.
func restore[R any](ctx context.Context, s *Service, by actor.Actor, kind, playerID, id string, insert func(context.Context, *store.Tx, R) (bool, error)) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		if err := player.LockPlayer(ctx, tx, by.AccountID, playerID); err != nil {
			return err
		}
		var content string
		err := tx.QueryRow(ctx, `
			DELETE FROM removed_records WHERE id = $1 AND coach_id = $2 AND player_id = $3 AND kind = $4 AND removed_at >= $5 RETURNING content`,
			id, by.AccountID, playerID, kind, database.Micros(tx.Now.Add(-RestoreWithin))).Scan(&content)
		if err != nil {
			return database.OrMissing(err, "restore "+kind+" "+id)
		}
		var r R
		if err := json.Unmarshal([]byte(content), &r); err != nil {
			return fmt.Errorf("restore %s %s: %w", kind, id, err)
		}
		added, err := insert(ctx, tx, r)
		if err == nil && !added { // the form that added the record was sent again meanwhile
			return fault.Missing()
		}
		return err
	})
}

// Expired deletes the records that can no longer be restored.
var Expired = store.Expired{
	What:  "removed records",
	Query: `DELETE FROM removed_records WHERE id IN (SELECT id FROM removed_records WHERE removed_at < $1 ORDER BY removed_at LIMIT $2) AND removed_at < $1`,
	Kept:  RestoreWithin,
}

// PlayerRemoved deletes the records of a player: no call returns them any longer.
func PlayerRemoved(ctx context.Context, tx *store.Tx, coachID, playerID string) error {
	return tx.DeferEach(ctx, []string{
		`DELETE FROM measurements WHERE coach_id = $1 AND player_id = $2`,
		`DELETE FROM performance_reports WHERE coach_id = $1 AND player_id = $2`,
		`DELETE FROM removed_records WHERE coach_id = $1 AND player_id = $2`,
	}, coachID, playerID)
}

// CoachLeft deletes the records of a coach who closes the account.
func CoachLeft(ctx context.Context, tx *store.Tx, coachID string) error {
	return tx.DeferEach(ctx, []string{
		`DELETE FROM removed_records WHERE coach_id = $1`,
		`DELETE FROM measurements WHERE coach_id = $1`,
		`DELETE FROM performance_reports WHERE coach_id = $1`,
	}, coachID)
}
