package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fault"
)

// Source returns everything that the directory is made of for one coach.
func (db *DB) Source(ctx context.Context, coachID string) (s coach.Source, err error) {
	return s, db.view(ctx, func(tx *tx) (err error) {
		s, err = tx.source(ctx, coachID)
		return err
	})
}

// SetVisibility loads what the directory is made of, lets fn say what the coach
// wishes, and saves that with the listing. fn may run more than once.
func (db *DB) SetVisibility(ctx context.Context, coachID string, fn func(coach.Source) (coach.Wish, error)) error {
	return db.write(ctx, func(tx *tx) error {
		s, err := tx.holdSource(ctx, coachID)
		if err != nil {
			return err
		}
		if s.Wish, err = fn(s); err != nil {
			return err
		}
		shown, err := json.Marshal(s.Show)
		if err != nil {
			return err
		}
		if err := tx.execOne(ctx, `UPDATE coaches SET visible = $2, shown = $3, updated_at = $4 WHERE id = $1`,
			coachID, s.Visible, string(shown), micros(tx.now)); err != nil {
			return err
		}
		return tx.list(ctx, s)
	})
}

// holdSource is source for a transaction that writes: nobody else changes the
// coach's row, or lists the coach, until it ends. The row itself stays as it is.
func (tx *tx) holdSource(ctx context.Context, coachID string) (coach.Source, error) {
	res, err := tx.exec(ctx, `UPDATE coaches SET version = version WHERE id = $1`, coachID)
	if err != nil {
		return coach.Source{}, err
	}
	if n, err := res.RowsAffected(); err != nil {
		return coach.Source{}, err
	} else if n == 0 {
		return coach.Source{}, fault.Missing()
	}
	return tx.source(ctx, coachID)
}

// source reads a coach's profile and whether the account is suspended.
func (tx *tx) source(ctx context.Context, coachID string) (coach.Source, error) {
	p, err := profile(ctx, tx, coachID)
	if err != nil {
		return coach.Source{}, err
	}
	var suspended sql.NullInt64
	if err := tx.queryRow(ctx, `SELECT suspended_at FROM accounts WHERE id = $1`, coachID).Scan(&suspended); err != nil {
		return coach.Source{}, fmt.Errorf("account of coach %s: %w", coachID, err)
	}
	return coach.Source{Profile: p, Suspended: suspended.Valid}, nil
}
