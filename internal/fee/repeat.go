package fee

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/store"
)

const selectRepeats = `
	SELECT r.id, r.coach_id, r.player_id, r.batch_id, p.student_name, b.name, r.title, r.amount, r.currency, r.due_on, r.until_on,
		r.made, r.next_at, r.ended_at, r.created_at, r.version
	FROM fee_repeats r LEFT JOIN players p ON p.id = r.player_id LEFT JOIN batches b ON b.id = r.batch_id `

func scanRepeat(s database.Scanner) (*Repeat, error) {
	r := &Repeat{Order: Order{Repeat: true}}
	return r, s.Scan(&r.ID, &r.CoachID, database.IntoText(&r.PlayerID), database.IntoText(&r.BatchID), database.IntoText(&r.StudentName), database.IntoText(&r.BatchName), &r.Title, &r.Amount,
		&r.Currency, &r.DueOn, database.IntoText((*string)(&r.Until)), &r.Made, database.IntoTime(&r.NextAt), database.IntoTime(&r.EndedAt), database.IntoTime(&r.CreatedAt), &r.Version)
}

// Repeats lists the repeats of the calling coach that have not ended, newest first.
func (s *Service) Repeats(ctx context.Context, by actor.Actor, beforeID string, limit int) ([]*Repeat, error) {
	rs, err := s.DB.Query(ctx, selectRepeats+`
		WHERE r.coach_id = $1 AND r.next_at IS NOT NULL AND r.id < $2 ORDER BY r.id DESC LIMIT $3`, by.AccountID, database.Before(beforeID), limit)
	return database.Collect(rs, err, scanRepeat)
}

// EndRepeat makes no more fees of a repeat.
func (s *Service) EndRepeat(ctx context.Context, by actor.Actor, repeatID string) error {
	return s.DB.Write(ctx, func(tx *store.Tx) error {
		r, err := scanRepeat(tx.QueryRow(ctx, selectRepeats+`WHERE r.id = $1 AND r.coach_id = $2 AND r.next_at IS NOT NULL`, repeatID, by.AccountID))
		if err != nil {
			return database.OrMissing(err, "read repeat of fees")
		}
		r.End(tx.Now)
		if err := tx.Complete(ctx, idempotency.Work{ID: r.ID}); err != nil {
			return err
		}
		return saveRepeat(ctx, tx, r)
	})
}

func insertRepeat(ctx context.Context, tx *store.Tx, r *Repeat) error {
	err := tx.Defer(ctx, `
		INSERT INTO fee_repeats (id, coach_id, player_id, batch_id, title, amount, currency, due_on, until_on, made, next_at, ended_at, created_at, version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		r.ID, r.CoachID, database.Text(r.PlayerID), database.Text(r.BatchID), r.Title, r.Amount, r.Currency, string(r.DueOn), database.Text(string(r.Until)),
		r.Made, database.Micros(r.NextAt), database.Micros(r.EndedAt), database.Micros(r.CreatedAt), r.Version)
	return fault.Wrap(err, "add repeat of fees")
}

// saveRepeat saves the columns of a repeat that can change; ErrStale if it has changed since
// it was read.
func saveRepeat(ctx context.Context, tx *store.Tx, r *Repeat) error {
	return tx.ExecOne(ctx, `
		UPDATE fee_repeats SET made = $3, next_at = $4, ended_at = $5, version = version + 1 WHERE id = $1 AND version = $2`,
		r.ID, r.Version, r.Made, database.Micros(r.NextAt), database.Micros(r.EndedAt))
}

// MakeDue makes the fees of up to n repeats whose next month is due, and returns how many
// it found. Each month is made in a transaction that checks the version of the repeat, so
// that only one replica makes it. The months of a suspended coach wait until the suspension
// ends; then each is made.
func (s *Service) MakeDue(ctx context.Context, n int) (int, error) {
	rs, err := s.DB.Query(ctx, `
		SELECT r.id FROM fee_repeats r
		WHERE r.next_at <= $1 AND (SELECT a.suspended_at FROM accounts a WHERE a.id = r.coach_id) IS NULL
		ORDER BY r.next_at, r.id LIMIT $2`, database.Micros(s.Now()), n)
	due, err := database.CollectTexts(rs, err)
	if err != nil {
		return 0, fmt.Errorf("find due repeats of fees: %w", err)
	}
	what := func(id string) string { return "make fees of repeat " + id }
	return len(due), store.WriteEach(ctx, s.DB, due, what, func(tx *store.Tx, id string) error { return s.makeMonth(ctx, tx, id) })
}

// makeMonth makes one month of a repeat. It does nothing if another replica was faster, or if an
// operator suspended the coach meanwhile. A repeat of a removed player or an archived batch
// ends.
func (s *Service) makeMonth(ctx context.Context, tx *store.Tx, id string) error {
	r, err := scanRepeat(tx.QueryRow(ctx, selectRepeats+`WHERE r.id = $1 AND r.next_at <= $2`, id, database.Micros(tx.Now)))
	if database.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, suspended, err := tx.ActiveCoach(ctx, r.CoachID); err != nil || suspended {
		return err
	}
	payers, err := payersOf(ctx, tx, r.CoachID, r.Order)
	if EndedBy(err) {
		r.End(tx.Now)
		return saveRepeat(ctx, tx, r)
	}
	if err != nil {
		return err
	}
	zone, err := s.zone(ctx, tx, r.CoachID)
	if err != nil {
		return err
	}
	fees := r.Make(payers, zone, tx.Now, s.NewID)
	if err := saveRepeat(ctx, tx, r); err != nil {
		return err
	}
	return insert(ctx, tx, fees)
}
