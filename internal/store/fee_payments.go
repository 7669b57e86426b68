package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/team"
)

const paymentColumns = `id, fee_id, receipt, amount, method, paid_on, note, created_at, reversed_at, reason`

func scanPayment(s database.Scanner) (p team.Payment, err error) {
	return p, s.Scan(&p.ID, &p.FeeID, &p.Receipt, &p.Amount, &p.Method, &p.PaidOn, intoText(&p.Note), intoTime(&p.CreatedAt),
		intoTime(&p.ReversedAt), intoText(&p.Reason))
}

// payments reads the payments of a fee, oldest first.
func payments(ctx context.Context, q database.Querier, feeID string) ([]team.Payment, error) {
	rs, err := q.Query(ctx, `SELECT `+paymentColumns+` FROM fee_payments WHERE fee_id = $1 ORDER BY receipt`, feeID)
	return database.Collect(rs, err, scanPayment)
}

// UpdateFee loads a fee, lets fn change it, and saves it unless a concurrent change was
// faster: then fn runs again on the newer fee. So two payments never exceed the balance.
func (db *DB) UpdateFee(ctx context.Context, coachID, feeID string, fn func(f *team.Fee, zone string) (team.FeeChange, error)) error {
	return db.write(ctx, func(tx *tx) error {
		f, err := tx.fee(ctx, coachID, feeID)
		if err != nil {
			return err
		}
		zone, err := db.zone(ctx, tx, coachID)
		if err != nil {
			return err
		}
		change, err := fn(f, zone)
		if err != nil {
			return err
		}
		work := idempotency.Work{ID: f.ID}
		if p := change.NewPayment; p != nil {
			work = idempotency.Work{ID: p.ID, New: true}
		} else if p := change.Reversed; p != nil {
			work = idempotency.Work{ID: p.ID}
		}
		if err := tx.complete(ctx, work); err != nil {
			return err
		}
		if err := tx.saveFee(ctx, f); err != nil {
			return err
		}
		if change.NewPayment != nil {
			if err := tx.insertPayment(ctx, coachID, change.NewPayment); err != nil {
				return err
			}
		}
		if p := change.Reversed; p != nil {
			return tx.ExecOne(ctx, `
				UPDATE fee_payments SET reversed_at = $3, reason = $4 WHERE id = $1 AND coach_id = $2 AND reversed_at IS NULL`,
				p.ID, coachID, micros(p.ReversedAt), text(p.Reason))
		}
		return nil
	})
}

// saveFee saves the columns of a fee that can change; ErrStale if it has changed since it was read.
func (tx *tx) saveFee(ctx context.Context, f *team.Fee) error {
	err := tx.ExecOne(ctx, `
		UPDATE fees SET status = $3, paid = $4, reason = $5, closed_at = $6, remind_at = $7, reminded_on = $8, reminded_count = $9, version = version + 1
		WHERE id = $1 AND version = $2`,
		f.ID, f.Version, string(f.Status), f.Paid, text(f.Reason), micros(f.ClosedAt), micros(f.RemindAt), text(string(f.RemindedOn)), f.RemindedCount)
	if err != nil {
		return fmt.Errorf("save fee %s: %w", f.ID, err)
	}
	f.Version++
	return nil
}

// insertPayment saves a payment with the next receipt number of its coach. The row of the number
// stays locked until the commit, so a transaction that fails leaves no gap.
func (tx *tx) insertPayment(ctx context.Context, coachID string, p *team.Payment) error {
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
		p.ID, coachID, p.FeeID, p.Receipt, p.Amount, string(p.Method), string(p.PaidOn), text(p.Note), micros(p.CreatedAt))
	if err != nil {
		return fmt.Errorf("add payment: %w", err)
	}
	return nil
}
