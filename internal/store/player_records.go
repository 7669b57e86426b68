package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/team"
)

// A record is a measurement or a report of a player.

// insert runs an INSERT and reports whether it added a row.
func (tx *Tx) insert(ctx context.Context, query string, args ...any) (added bool, err error) {
	n, err := tx.Exec(ctx, query, args...)
	return n == 1, err
}

// addRecord saves a record of the coach's player, if check allows it for the coach's stored
// tier, and notifies the parties. The lock of the player keeps the consents unchanged until
// the commit.
func (db *DB) addRecord(ctx context.Context, r team.AddedRecord, check func(tier string) error, insert func(*Tx) (added bool, err error)) error {
	return db.Write(ctx, func(tx *Tx) error {
		if err := tx.Complete(ctx, idempotency.Work{ID: r.ID, New: true}); err != nil {
			return err
		}
		var guardian, student, tier string
		err := tx.QueryRow(ctx, `
			SELECT p.student_name, p.guardian_id, p.student_id, (SELECT c.name FROM coaches c WHERE c.id = p.coach_id),
				(SELECT c.tier FROM coaches c WHERE c.id = p.coach_id)
			FROM players p WHERE p.id = $1 AND p.coach_id = $2 AND p.deleted_at IS NULL `+tx.ForShare("p"), r.PlayerID, r.CoachID).
			Scan(&r.StudentName, database.IntoText(&guardian), database.IntoText(&student), database.IntoText(&r.CoachName), database.IntoText(&tier))
		if err != nil {
			return database.OrMissing(err, "read player "+r.PlayerID)
		}
		if err := check(tier); err != nil {
			return err
		}
		added, err := insert(tx)
		if err != nil {
			return fmt.Errorf("save a record of player %s: %w", r.PlayerID, err)
		}
		if !added {
			return nil
		}
		enabled, err := tx.Enabled(ctx, []string{r.PlayerID})
		if err != nil {
			return err
		}
		r.Accounts = map[actor.Role]string{actor.Guardian: guardian, actor.Student: student}
		return tx.Notify(ctx, r.Events(enabled))
	})
}

// viewRecords runs read if the coach has the player, else it returns not_found.
func (db *DB) viewRecords(ctx context.Context, coachID, playerID string, read func(*Tx) error) error {
	return db.View(ctx, func(tx *Tx) error {
		if err := tx.CheckPlayer(ctx, coachID, playerID); err != nil {
			return err
		}
		return read(tx)
	})
}

// viewRecordsFor runs read for a guardian or student who has a service of the player, with the time
// from which they see records.
func (db *DB) viewRecordsFor(ctx context.Context, by actor.Actor, playerID string, service team.AppService, read func(tx *Tx, coachID string, since int64) error) error {
	return db.View(ctx, func(tx *Tx) error {
		l, err := tx.Link(ctx, by, playerID, service)
		if err != nil {
			return err
		}
		return read(tx, l.CoachID, database.SinceMicros(team.VisibleSince(l.ApprovedAt, tx.db.options.Settings.WholeHistory)))
	})
}

// changeRecord runs change if the coach has the player, else it returns not_found.
func (db *DB) changeRecord(ctx context.Context, coachID, playerID string, change func(*Tx) error) error {
	return db.Write(ctx, func(tx *Tx) error {
		if err := tx.CheckPlayer(ctx, coachID, playerID); err != nil {
			return err
		}
		return change(tx)
	})
}

// CheckPlayer returns not_found unless the coach has the player.
func (tx *Tx) CheckPlayer(ctx context.Context, coachID, playerID string) error {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM players WHERE id = $1 AND coach_id = $2 AND deleted_at IS NULL`, playerID, coachID).Scan(&one)
	return database.OrMissing(err, "read player "+playerID)
}
