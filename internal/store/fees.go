package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/team"
)

var _ team.FeeStore = (*DB)(nil)

const feeColumns = `f.id, f.coach_id, f.player_id, p.student_name, f.batch_id, f.series_id, f.period, f.title, f.amount, f.currency, f.due_on,
		f.status, f.paid, f.reason, f.closed_at, f.remind_at, f.reminded_on, f.reminded_count, f.created_at, f.version`

const feeSelect = `
	SELECT ` + feeColumns + `
	FROM fees f JOIN players p ON p.id = f.player_id `

func scanFee(s database.Scanner) (*team.Fee, error) {
	f := &team.Fee{}
	return f, s.Scan(&f.ID, &f.CoachID, &f.PlayerID, &f.StudentName, intoText(&f.BatchID), intoText(&f.SeriesID), &f.Period, &f.Title, &f.Amount,
		&f.Currency, &f.DueOn, &f.Status, &f.Paid, intoText(&f.Reason), intoTime(&f.ClosedAt), intoTime(&f.RemindAt),
		intoText((*string)(&f.RemindedOn)), &f.RemindedCount, intoTime(&f.CreatedAt), &f.Version)
}

// Zone returns the name of the time zone of a coach.
func (db *DB) Zone(ctx context.Context, coachID string) (string, error) {
	return db.zone(ctx, db.sql, coachID)
}

func (db *DB) zone(ctx context.Context, q database.Querier, coachID string) (string, error) {
	var name string
	err := q.QueryRow(ctx, `SELECT time_zone FROM coaches WHERE id = $1`, coachID).Scan(intoText(&name))
	if err != nil && !isNoRows(err) {
		return "", fmt.Errorf("read time zone: %w", err)
	}
	return db.options.Settings.zoneOf(name), nil
}

// Fee returns a fee of a coach with its payments, or not_found.
func (db *DB) Fee(ctx context.Context, coachID, feeID string) (f *team.Fee, err error) {
	err = db.view(ctx, func(tx *tx) error {
		f, err = tx.fee(ctx, coachID, feeID)
		return err
	})
	return f, err
}

// FeeOfPayment returns the fee of a coach with a payment, or not_found.
func (db *DB) FeeOfPayment(ctx context.Context, coachID, paymentID string) (*team.Fee, error) {
	var feeID string
	err := db.sql.QueryRow(ctx, `SELECT fee_id FROM fee_payments WHERE id = $2 AND coach_id = $1`, coachID, paymentID).Scan(&feeID)
	if isNoRows(err) {
		return nil, fault.Missing()
	}
	if err != nil {
		return nil, err
	}
	return db.Fee(ctx, coachID, feeID)
}

// fee reads a fee with its payments, or returns not_found.
func (tx *tx) fee(ctx context.Context, coachID, feeID string) (*team.Fee, error) {
	f, err := scanFee(tx.QueryRow(ctx, feeSelect+`WHERE f.id = $1 AND f.coach_id = $2`, feeID, coachID))
	if err != nil {
		return nil, orMissing(err, "read fee")
	}
	if f.Payments, err = payments(ctx, tx, f.ID); err != nil {
		return nil, fmt.Errorf("read payments of fee %s: %w", f.ID, err)
	}
	return f, nil
}

// FeesOfSeries returns the fees of the first month of a series, in the order of their ids.
func (db *DB) FeesOfSeries(ctx context.Context, coachID, seriesID string) ([]*team.Fee, error) {
	rs, err := db.sql.Query(ctx, feeSelect+`WHERE f.series_id = $1 AND f.period = 0 AND f.coach_id = $2`, seriesID, coachID)
	return database.Collect(rs, err, scanFee)
}

// AddFees adds the fees that fn returns for the player of o, or for the players that are in its
// batch now.
func (db *DB) AddFees(ctx context.Context, coachID string, o team.FeeOrder, fn func(zone string, payers []team.Payer) (team.FeeSet, error)) error {
	return db.write(ctx, func(tx *tx) error {
		payers, err := tx.payers(ctx, coachID, o)
		if err != nil {
			return err
		}
		zone, err := db.zone(ctx, tx, coachID)
		if err != nil {
			return err
		}
		set, err := fn(zone, payers)
		if err != nil {
			return err
		}
		work := idempotency.Work{ID: set.Fees[0].ID, New: true}
		if o.BatchID != "" {
			work.ID = set.Fees[0].SeriesID
		}
		if err := tx.complete(ctx, work); err != nil {
			return err
		}
		if set.Repeat != nil {
			if err := tx.insertFeeRepeat(ctx, set.Repeat); err != nil {
				return err
			}
		}
		return tx.insertFees(ctx, set.Fees)
	})
}

// CheckPayers returns not_found unless the coach has the player or the batch of o.
func (db *DB) CheckPayers(ctx context.Context, coachID string, o team.FeeOrder) error {
	var known bool
	err := db.sql.QueryRow(ctx, `
		SELECT (CAST($2 AS TEXT) = '' OR EXISTS (SELECT 1 FROM players WHERE id = $2 AND coach_id = $1 AND deleted_at IS NULL))
			AND (CAST($3 AS TEXT) = '' OR EXISTS (SELECT 1 FROM batches WHERE id = $3 AND coach_id = $1))`, coachID, o.PlayerID, o.BatchID).Scan(&known)
	if err == nil && !known {
		err = fault.Missing()
	}
	return err
}

// payers returns the player of an order, or the players that are in its batch. A batch that
// is archived at the same time waits, or is batch_archived.
func (tx *tx) payers(ctx context.Context, coachID string, o team.FeeOrder) ([]team.Payer, error) {
	if o.BatchID == "" {
		p := team.Payer{PlayerID: o.PlayerID}
		err := tx.QueryRow(ctx, `SELECT student_name FROM players WHERE id = $1 AND coach_id = $2 AND deleted_at IS NULL`, o.PlayerID, coachID).Scan(&p.StudentName)
		if isNoRows(err) {
			return nil, fault.Missing()
		}
		return []team.Payer{p}, err
	}
	if err := tx.checkOpen(ctx, coachID, o.BatchID, tx.ForShare("b")); err != nil {
		return nil, err
	}
	rs, err := tx.Query(ctx, `
		SELECT p.id, p.student_name FROM batch_players m JOIN players p ON p.id = m.player_id
		WHERE m.batch_id = $1 AND m.left_at IS NULL AND p.coach_id = $2 AND p.deleted_at IS NULL`, o.BatchID, coachID)
	return database.Collect(rs, err, func(s database.Scanner) (p team.Payer, err error) { return p, s.Scan(&p.PlayerID, &p.StudentName) })
}

// insertFees adds fees. It skips a fee that its series has already.
func (tx *tx) insertFees(ctx context.Context, fees []*team.Fee) error {
	const columns = 16
	var values []any
	for _, f := range fees {
		values = append(values, f.ID, f.CoachID, f.PlayerID, text(f.BatchID), text(f.SeriesID), f.Period, f.Title, f.Amount, f.Currency, string(f.DueOn),
			string(f.Status), f.Paid, micros(f.RemindAt), f.RemindedCount, micros(f.CreatedAt), f.Version)
	}
	err := tx.insertRows(ctx, `
		INSERT INTO fees (id, coach_id, player_id, batch_id, series_id, period, title, amount, currency, due_on,
			status, paid, remind_at, reminded_count, created_at, version)`, `
		ON CONFLICT (series_id, period, player_id) WHERE series_id IS NOT NULL DO NOTHING`, columns, values)
	if err != nil {
		return fmt.Errorf("add fees: %w", err)
	}
	return nil
}
