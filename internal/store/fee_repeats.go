package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/team"
)

const feeRepeatSelect = `
	SELECT r.id, r.coach_id, r.player_id, r.batch_id, p.student_name, b.name, r.title, r.amount, r.currency, r.due_on, r.until_on,
		r.made, r.next_at, r.ended_at, r.created_at, r.version
	FROM fee_repeats r LEFT JOIN players p ON p.id = r.player_id LEFT JOIN batches b ON b.id = r.batch_id `

func scanFeeRepeat(s database.Scanner) (*team.FeeRepeat, error) {
	r := &team.FeeRepeat{}
	r.Repeat = true
	return r, s.Scan(&r.ID, &r.CoachID, intoText(&r.PlayerID), intoText(&r.BatchID), intoText(&r.StudentName), intoText(&r.BatchName), &r.Title, &r.Amount,
		&r.Currency, &r.DueOn, intoText((*string)(&r.Until)), &r.Made, intoTime(&r.NextAt), intoTime(&r.EndedAt), intoTime(&r.CreatedAt), &r.Version)
}

// FeeRepeats lists the repeats of a coach that have not ended, newest first.
func (db *DB) FeeRepeats(ctx context.Context, coachID, beforeID string, limit int) ([]*team.FeeRepeat, error) {
	rs, err := db.sql.Query(ctx, feeRepeatSelect+`
		WHERE r.coach_id = $1 AND r.next_at IS NOT NULL AND r.id < $2 ORDER BY r.id DESC LIMIT $3`, coachID, before(beforeID), limit)
	return database.Collect(rs, err, scanFeeRepeat)
}

// EndFeeRepeat ends a repeat of a coach, or returns not_found.
func (db *DB) EndFeeRepeat(ctx context.Context, coachID, repeatID string) error {
	return db.write(ctx, func(tx *tx) error {
		r, err := scanFeeRepeat(tx.QueryRow(ctx, feeRepeatSelect+`WHERE r.id = $1 AND r.coach_id = $2 AND r.next_at IS NOT NULL`, repeatID, coachID))
		if isNoRows(err) {
			return fault.Missing()
		}
		if err != nil {
			return err
		}
		r.End(tx.Now)
		if err := tx.complete(ctx, idempotency.Work{ID: r.ID}); err != nil {
			return err
		}
		return tx.saveFeeRepeat(ctx, r)
	})
}

func (tx *tx) insertFeeRepeat(ctx context.Context, r *team.FeeRepeat) error {
	err := tx.Defer(ctx, `
		INSERT INTO fee_repeats (id, coach_id, player_id, batch_id, title, amount, currency, due_on, until_on, made, next_at, ended_at, created_at, version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		r.ID, r.CoachID, text(r.PlayerID), text(r.BatchID), r.Title, r.Amount, r.Currency, string(r.DueOn), text(string(r.Until)),
		r.Made, micros(r.NextAt), micros(r.EndedAt), micros(r.CreatedAt), r.Version)
	if err != nil {
		return fmt.Errorf("add repeat of fees: %w", err)
	}
	return nil
}

// saveFeeRepeat saves the columns of a repeat that can change; ErrStale if it has changed since
// it was read.
func (tx *tx) saveFeeRepeat(ctx context.Context, r *team.FeeRepeat) error {
	return tx.ExecOne(ctx, `
		UPDATE fee_repeats SET made = $3, next_at = $4, ended_at = $5, version = version + 1 WHERE id = $1 AND version = $2`,
		r.ID, r.Version, r.Made, micros(r.NextAt), micros(r.EndedAt))
}

// MakeFees makes the fees of up to n repeats whose next month is due, and returns how many
// it found. Each month is made in a transaction that checks the version of the repeat, so
// that only one replica makes it. The months of a suspended coach wait until the suspension
// ends; then each is made.
func (db *DB) MakeFees(ctx context.Context, n int) (int, error) {
	rs, err := db.sql.Query(ctx, `
		SELECT r.id FROM fee_repeats r
		WHERE r.next_at <= $1 AND (SELECT a.suspended_at FROM accounts a WHERE a.id = r.coach_id) IS NULL
		ORDER BY r.next_at, r.id LIMIT $2`, micros(db.Now()), n)
	due, err := collectTexts(rs, err)
	if err != nil {
		return 0, fmt.Errorf("find due repeats of fees: %w", err)
	}
	what := func(id string) string { return "make fees of repeat " + id }
	return len(due), writeEach(ctx, db, due, what, func(tx *tx, id string) error { return tx.makeFees(ctx, id) })
}

// makeFees makes one month of a repeat. It does nothing if another replica was faster, or if an
// operator suspended the coach meanwhile. A repeat of a removed player or an archived batch
// ends.
func (tx *tx) makeFees(ctx context.Context, id string) error {
	r, err := scanFeeRepeat(tx.QueryRow(ctx, feeRepeatSelect+`WHERE r.id = $1 AND r.next_at <= $2`, id, micros(tx.Now)))
	if isNoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, suspended, err := tx.activeCoach(ctx, r.CoachID); err != nil || suspended {
		return err
	}
	payers, err := tx.payers(ctx, r.CoachID, r.FeeOrder)
	if team.EndedBy(err) {
		r.End(tx.Now)
		return tx.saveFeeRepeat(ctx, r)
	}
	if err != nil {
		return err
	}
	zone, err := tx.db.zone(ctx, tx, r.CoachID)
	if err != nil {
		return err
	}
	fees := r.Make(payers, team.Zone(zone), tx.Now, tx.db.options.NewID)
	if err := tx.saveFeeRepeat(ctx, r); err != nil {
		return err
	}
	return tx.insertFees(ctx, fees)
}
