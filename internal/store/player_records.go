package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/team"
)

// A record is a measurement or a report of a player.

// insert runs an INSERT and reports whether it added a row.
func (tx *tx) insert(ctx context.Context, query string, args ...any) (added bool, err error) {
	n, err := tx.Exec(ctx, query, args...)
	return n == 1, err
}

// addRecord saves a record of the coach's player, if check allows it for the coach's stored
// tier, and notifies the parties. The lock of the player keeps the consents unchanged until
// the commit.
func (db *DB) addRecord(ctx context.Context, r team.AddedRecord, check func(tier string) error, insert func(*tx) (added bool, err error)) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.complete(ctx, idempotency.Work{ID: r.ID, New: true}); err != nil {
			return err
		}
		var guardian, student, tier string
		err := tx.QueryRow(ctx, `
			SELECT p.student_name, p.guardian_id, p.student_id, (SELECT c.name FROM coaches c WHERE c.id = p.coach_id),
				(SELECT c.tier FROM coaches c WHERE c.id = p.coach_id)
			FROM players p WHERE p.id = $1 AND p.coach_id = $2 AND p.deleted_at IS NULL `+tx.ForShare("p"), r.PlayerID, r.CoachID).
			Scan(&r.StudentName, intoText(&guardian), intoText(&student), intoText(&r.CoachName), intoText(&tier))
		if err != nil {
			return orMissing(err, "read player "+r.PlayerID)
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
		enabled, err := tx.enabled(ctx, []string{r.PlayerID})
		if err != nil {
			return err
		}
		r.Accounts = map[actor.Role]string{actor.Guardian: guardian, actor.Student: student}
		return tx.notify(ctx, r.Events(enabled))
	})
}

// viewRecords runs read if the coach has the player, else it returns not_found.
func (db *DB) viewRecords(ctx context.Context, coachID, playerID string, read func(*tx) error) error {
	return db.view(ctx, func(tx *tx) error {
		if err := tx.checkPlayer(ctx, coachID, playerID); err != nil {
			return err
		}
		return read(tx)
	})
}

// viewRecordsFor runs read for a guardian or student who has a service of the player, with the time
// from which they see records.
func (db *DB) viewRecordsFor(ctx context.Context, by actor.Actor, playerID string, service team.AppService, read func(tx *tx, coachID string, since int64) error) error {
	return db.view(ctx, func(tx *tx) error {
		l, err := tx.link(ctx, by, playerID, service)
		if err != nil {
			return err
		}
		return read(tx, l.CoachID, sinceMicros(team.VisibleSince(l.ApprovedAt, tx.db.options.Settings.WholeHistory)))
	})
}

// changeRecord runs change if the coach has the player, else it returns not_found.
func (db *DB) changeRecord(ctx context.Context, coachID, playerID string, change func(*tx) error) error {
	return db.write(ctx, func(tx *tx) error {
		if err := tx.checkPlayer(ctx, coachID, playerID); err != nil {
			return err
		}
		return change(tx)
	})
}

// checkPlayer returns not_found unless the coach has the player.
func (tx *tx) checkPlayer(ctx context.Context, coachID, playerID string) error {
	var one int
	err := tx.QueryRow(ctx, `SELECT 1 FROM players WHERE id = $1 AND coach_id = $2 AND deleted_at IS NULL`, playerID, coachID).Scan(&one)
	return orMissing(err, "read player "+playerID)
}
