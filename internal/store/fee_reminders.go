package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/team"
)

// RemindFee loads a fee and its parties, saves the changes of fn to the fee, and sends the
// notifications of its events, in one transaction. fn may run more than once.
func (db *DB) RemindFee(ctx context.Context, coachID, feeID string, fn func(team.FeeAudience) ([]event.Event, error)) error {
	return db.write(ctx, func(tx *tx) error {
		audience, err := tx.feeAudience(ctx, coachID, feeID, tx.ForShare("p"))
		if err != nil {
			return err
		}
		events, err := fn(audience)
		if err != nil {
			return err
		}
		if err := tx.complete(ctx, idempotency.Work{ID: feeID}); err != nil {
			return err
		}
		return tx.remindFee(ctx, audience.Fee, events)
	})
}

// RemindFees reminds the parties of up to n fees whose reminder is due, and returns how many
// it found. Each one is sent in a transaction that checks the version of the fee, so that
// only one replica sends it.
func (db *DB) RemindFees(ctx context.Context, n int) (int, error) {
	type due struct{ coachID, feeID string }
	rs, err := db.sql.Query(ctx, `SELECT coach_id, id FROM fees WHERE remind_at <= $1 ORDER BY remind_at, id LIMIT $2`, micros(db.Now()), n)
	all, err := database.Collect(rs, err, func(s database.Scanner) (d due, err error) { return d, s.Scan(&d.coachID, &d.feeID) })
	if err != nil {
		return 0, fmt.Errorf("find due reminders of fees: %w", err)
	}
	what := func(d due) string { return "remind of fee " + d.feeID }
	return len(all), writeEach(ctx, db, all, what, func(tx *tx, d due) error {
		audience, err := tx.feeAudience(ctx, d.coachID, d.feeID, tx.ForShare("p"))
		if err != nil {
			return err
		}
		if at := audience.Fee.RemindAt; at.IsZero() || at.After(tx.Now) {
			return nil // another replica was faster
		}
		return tx.remindFee(ctx, audience.Fee, audience.RemindAutomatically(tx.Now))
	})
}

// remindFee saves a fee and sends the notifications of a reminder.
func (tx *tx) remindFee(ctx context.Context, f *team.Fee, events []event.Event) error {
	if err := tx.saveFee(ctx, f); err != nil {
		return err
	}
	return tx.notify(ctx, events)
}

// FeeAudience reads a fee and the parties of its player.
func (db *DB) FeeAudience(ctx context.Context, coachID, feeID string) (a team.FeeAudience, err error) {
	err = db.view(ctx, func(tx *tx) error {
		a, err = tx.feeAudience(ctx, coachID, feeID, "")
		return err
	})
	return a, err
}

// feeAudience reads a fee and the parties of its player. With the lock tx.ForShare("p") a decision
// of a party commits before, or waits until this transaction has committed.
func (tx *tx) feeAudience(ctx context.Context, coachID, feeID, lock string) (team.FeeAudience, error) {
	var a team.FeeAudience
	var err error
	if a.Fee, err = tx.fee(ctx, coachID, feeID); err != nil {
		return a, err
	}
	accounts := map[actor.Role]*string{actor.Guardian: new(string), actor.Student: new(string)}
	err = tx.QueryRow(ctx, `
		SELECT p.guardian_id, p.student_id, c.name, c.time_zone,
			EXISTS (SELECT 1 FROM accounts s WHERE s.id = p.coach_id AND s.suspended_at IS NOT NULL)
		FROM players p LEFT JOIN coaches c ON c.id = p.coach_id
		WHERE p.id = $1 AND p.deleted_at IS NULL `+lock, a.Fee.PlayerID).
		Scan(intoText(accounts[actor.Guardian]), intoText(accounts[actor.Student]), intoText(&a.CoachName), intoText(&a.Zone), &a.Suspended)
	if err != nil && !isNoRows(err) {
		return a, fmt.Errorf("lock player %s: %w", a.Fee.PlayerID, err)
	}
	a.Zone = tx.db.options.Settings.zoneOf(a.Zone)
	enabled, err := tx.enabled(ctx, []string{a.Fee.PlayerID})
	if err != nil {
		return a, err
	}
	for _, party := range approval.Parties {
		if id := *accounts[party]; id != "" {
			a.Linked = append(a.Linked, team.FeeParty{Role: party, AccountID: id, Access: enabled(a.Fee.PlayerID, party, team.FeeReminders)})
		}
	}
	return a, nil
}
