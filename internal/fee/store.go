package fee

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/team"
)

const selectFees = `
	SELECT f.id, f.coach_id, f.player_id, p.student_name, f.batch_id, f.series_id, f.period, f.title, f.amount, f.currency, f.due_on,
		f.status, f.paid, f.reason, f.closed_at, f.remind_at, f.reminded_on, f.reminded_count, f.told_at, f.told_by, f.told_guardian, f.created_at, f.version, c.time_zone
	FROM fees f JOIN players p ON p.id = f.player_id LEFT JOIN coaches c ON c.id = f.coach_id `

// scan reads a row of selectFees.
func (s *Service) scan(row database.Scanner) (*Fee, error) {
	f, zone := &Fee{}, ""
	err := row.Scan(&f.ID, &f.CoachID, &f.PlayerID, &f.StudentName, database.IntoText(&f.BatchID), database.IntoText(&f.SeriesID), &f.Period, &f.Title, &f.Amount,
		&f.Currency, &f.DueOn, &f.Status, &f.Paid, database.IntoText(&f.Reason), database.IntoTime(&f.ClosedAt), database.IntoTime(&f.RemindAt),
		database.IntoText((*string)(&f.RemindedOn)), &f.RemindedCount, database.IntoTime(&f.Told.At), database.IntoText((*string)(&f.Told.By)), database.IntoText(&f.Told.GuardianID), database.IntoTime(&f.CreatedAt), &f.Version, database.IntoText(&zone))
	f.Zone = team.Zone(s.DB.ZoneOf(zone))
	return f, err
}

// read reads a fee with its payments, or returns not_found.
func (s *Service) read(ctx context.Context, tx *store.Tx, coachID, feeID string) (*Fee, error) {
	f, err := s.scan(tx.QueryRow(ctx, selectFees+`WHERE f.id = $1 AND f.coach_id = $2`, feeID, coachID))
	if err != nil {
		return nil, database.OrMissing(err, "read fee")
	}
	rs, err := tx.Query(ctx, selectPayments+`WHERE fee_id = $1 ORDER BY receipt`, f.ID)
	if f.Payments, err = database.Collect(rs, err, scanPayment); err != nil {
		return nil, fmt.Errorf("read payments of fee %s: %w", f.ID, err)
	}
	if f.Told.GuardianName, err = oneOfSeveral(ctx, tx, f.PlayerID, f.Told.GuardianID); err != nil {
		return nil, err
	}
	return f, nil
}

// oneOfSeveral returns the name of a guardian, or "" for the only one.
func oneOfSeveral(ctx context.Context, tx *store.Tx, playerID, guardianID string) (name string, err error) {
	if guardianID == "" {
		return "", nil
	}
	err = tx.QueryRow(ctx, `
		SELECT name FROM parties n WHERE player_id = $1 AND role = 'guardian' AND guardian_id = $2
			AND EXISTS (SELECT 1 FROM parties o WHERE o.player_id = n.player_id AND o.role = 'guardian' AND o.position > 1)`, playerID, guardianID).
		Scan(database.IntoText(&name))
	if err != nil && !database.IsNoRows(err) {
		return "", fmt.Errorf("read the guardian who told of a fee: %w", err)
	}
	return name, nil
}

// Fee returns a fee of the calling coach with its payments.
func (s *Service) Fee(ctx context.Context, by actor.Actor, feeID string) (f *Fee, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		f, err = s.read(ctx, tx, by.AccountID, feeID)
		return err
	})
	return f, err
}

// Payment returns a payment of the calling coach and its fee.
func (s *Service) Payment(ctx context.Context, by actor.Actor, paymentID string) (*Fee, *Payment, error) {
	var feeID string
	err := s.DB.QueryRow(ctx, `SELECT fee_id FROM fee_payments WHERE id = $2 AND coach_id = $1`, by.AccountID, paymentID).Scan(&feeID)
	if err != nil {
		return nil, nil, database.OrMissing(err, "read payment")
	}
	f, err := s.Fee(ctx, by, feeID)
	if err != nil {
		return nil, nil, err
	}
	p, err := f.Payment(paymentID)
	return f, p, err
}

// Added returns the fees that Add made: the fees of the first month of a series, in the order of their
// ids, or one fee.
func (s *Service) Added(ctx context.Context, by actor.Actor, id string) ([]*Fee, error) {
	rs, err := s.DB.Query(ctx, selectFees+`WHERE f.series_id = $1 AND f.period = 0 AND f.coach_id = $2`, id, by.AccountID)
	fees, err := database.Collect(rs, err, s.scan)
	if err != nil || len(fees) > 0 {
		return fees, err
	}
	f, err := s.Fee(ctx, by, id)
	if err != nil {
		return nil, err
	}
	return []*Fee{f}, nil
}

// checkPayers returns not_found unless the coach has the player or the batch of o.
func checkPayers(ctx context.Context, db *store.DB, coachID string, o Order) error {
	var known bool
	err := db.QueryRow(ctx, `
		SELECT (CAST($2 AS TEXT) = '' OR EXISTS (SELECT 1 FROM players WHERE id = $2 AND coach_id = $1 AND deleted_at IS NULL))
			AND (CAST($3 AS TEXT) = '' OR EXISTS (SELECT 1 FROM batches WHERE id = $3 AND coach_id = $1))`, coachID, o.PlayerID, o.BatchID).Scan(&known)
	if err == nil && !known {
		err = fault.Missing()
	}
	return err
}

// payersOf returns the players of an order, or the players that are in its batch. A batch that
// is archived at the same time waits, or is batch_archived.
func payersOf(ctx context.Context, tx *store.Tx, coachID string, o Order) ([]Payer, error) {
	if len(o.PlayerIDs) > 0 {
		rs, err := tx.Query(ctx, `
			SELECT id, student_name FROM players WHERE coach_id = $1 AND id IN (`+database.Params(2, len(o.PlayerIDs))+`) AND deleted_at IS NULL`,
			append([]any{coachID}, database.TextArgs(o.PlayerIDs)...)...)
		payers, err := database.Collect(rs, err, scanPayer)
		if err == nil && len(payers) < len(o.PlayerIDs) {
			err = fault.Missing()
		}
		return payers, err
	}
	if o.BatchID == "" {
		p := Payer{PlayerID: o.PlayerID}
		err := tx.QueryRow(ctx, `SELECT student_name FROM players WHERE id = $1 AND coach_id = $2 AND deleted_at IS NULL`, o.PlayerID, coachID).Scan(&p.StudentName)
		return []Payer{p}, database.OrMissing(err, "read player")
	}
	if err := tx.CheckOpen(ctx, coachID, o.BatchID, tx.ForShare("b")); err != nil {
		return nil, err
	}
	rs, err := tx.Query(ctx, `
		SELECT p.id, p.student_name FROM batch_players m JOIN players p ON p.id = m.player_id
		WHERE m.batch_id = $1 AND m.left_at IS NULL AND p.coach_id = $2 AND p.deleted_at IS NULL`, o.BatchID, coachID)
	return database.Collect(rs, err, scanPayer)
}

func scanPayer(s database.Scanner) (p Payer, err error) {
	return p, s.Scan(&p.PlayerID, &p.StudentName)
}

// insert adds fees. It skips a fee that its series has already.
func insert(ctx context.Context, tx *store.Tx, fees []*Fee) error {
	const columns = 16
	var values []any
	for _, f := range fees {
		values = append(values, f.ID, f.CoachID, f.PlayerID, database.Text(f.BatchID), database.Text(f.SeriesID), f.Period, f.Title, f.Amount, f.Currency, string(f.DueOn),
			string(f.Status), f.Paid, database.Micros(f.RemindAt), f.RemindedCount, database.Micros(f.CreatedAt), f.Version)
	}
	err := tx.InsertRows(ctx, `
		INSERT INTO fees (id, coach_id, player_id, batch_id, series_id, period, title, amount, currency, due_on,
			status, paid, remind_at, reminded_count, created_at, version)`, `
		ON CONFLICT (series_id, period, player_id) WHERE series_id IS NOT NULL DO NOTHING`, columns, values)
	return fault.Wrap(err, "add fees")
}

// save saves the columns of a fee that can change; ErrStale if it has changed since it was read.
func save(ctx context.Context, tx *store.Tx, f *Fee) error {
	err := tx.ExecOne(ctx, `
		UPDATE fees SET status = $3, paid = $4, reason = $5, closed_at = $6, remind_at = $7, reminded_on = $8, reminded_count = $9, told_at = $10, told_by = $11, told_guardian = $12, version = version + 1
		WHERE id = $1 AND version = $2`,
		f.ID, f.Version, string(f.Status), f.Paid, database.Text(f.Reason), database.Micros(f.ClosedAt), database.Micros(f.RemindAt), database.Text(string(f.RemindedOn)), f.RemindedCount,
		database.Micros(f.Told.At), database.Text(string(f.Told.By)), database.Text(f.Told.GuardianID))
	if err != nil {
		return fmt.Errorf("save fee %s: %w", f.ID, err)
	}
	f.Version++
	return nil
}

const selectPayments = `SELECT id, fee_id, receipt, amount, method, paid_on, note, created_at, reversed_at, reason FROM fee_payments `

func scanPayment(s database.Scanner) (p Payment, err error) {
	return p, s.Scan(&p.ID, &p.FeeID, &p.Receipt, &p.Amount, &p.Method, &p.PaidOn, database.IntoText(&p.Note), database.IntoTime(&p.CreatedAt),
		database.IntoTime(&p.ReversedAt), database.IntoText(&p.Reason))
}

// Payments lists the payments of the calling coach after a receipt number, in the order of these
// numbers.
func (s *Service) Payments(ctx context.Context, by actor.Actor, after int64, limit int) ([]Payment, error) {
	rs, err := s.DB.Query(ctx, selectPayments+`WHERE coach_id = $1 AND receipt > $2 ORDER BY receipt LIMIT $3`, by.AccountID, after, limit)
	return database.Collect(rs, err, scanPayment)
}

// insertPayment saves a payment with the next receipt number of its coach. The row of the number
// stays locked until the commit, so a transaction that fails leaves no gap.
func insertPayment(ctx context.Context, tx *store.Tx, coachID string, p *Payment) error {
	err := tx.QueryRow(ctx, `
		INSERT INTO fee_receipts (coach_id, last) VALUES ($1, 1)
		ON CONFLICT (coach_id) DO UPDATE SET last = fee_receipts.last + 1
		RETURNING last`, coachID).Scan(&p.Receipt)
	if err != nil {
		return fmt.Errorf("take receipt number: %w", err)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO fee_payments (id, coach_id, fee_id, receipt, amount, method, paid_on, note, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		p.ID, coachID, p.FeeID, p.Receipt, p.Amount, string(p.Method), string(p.PaidOn), database.Text(p.Note), database.Micros(p.CreatedAt))
	return fault.Wrap(err, "add payment")
}

func saveReversal(ctx context.Context, tx *store.Tx, coachID string, p *Payment) error {
	return tx.ExecOne(ctx, `
		UPDATE fee_payments SET reversed_at = $3, reason = $4 WHERE id = $1 AND coach_id = $2 AND reversed_at IS NULL`,
		p.ID, coachID, database.Micros(p.ReversedAt), database.Text(p.Reason))
}
