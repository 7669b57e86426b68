package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/coach"
)

// Source returns everything that the directory is made of for one coach.
func (db *DB) ListingSource(ctx context.Context, coachID string) (s coach.ListingSource, err error) {
	return s, db.view(ctx, func(tx *tx) (err error) {
		s, err = tx.listingSource(ctx, coachID)
		return err
	})
}

// SetVisibility loads what the directory is made of, lets fn say what the coach
// wishes, and saves that with the listing. fn may run more than once.
func (db *DB) SetVisibility(ctx context.Context, coachID string, fn func(coach.ListingSource) (coach.VisibilityRequest, error)) error {
	return db.write(ctx, func(tx *tx) error {
		if _, err := tx.holdCoach(ctx, coachID); err != nil {
			return err
		}
		s, err := tx.listingSource(ctx, coachID)
		if err != nil {
			return err
		}
		if s.VisibilityRequest, err = fn(s); err != nil {
			return err
		}
		shown, err := json.Marshal(s.Show)
		if err != nil {
			return err
		}
		if err := tx.ExecOne(ctx, `UPDATE coaches SET visible = $2, shown = $3, updated_at = $4 WHERE id = $1`,
			coachID, s.Visible, string(shown), micros(tx.Now)); err != nil {
			return err
		}
		return tx.saveListing(ctx, s)
	})
}

// holdCoach takes the coach's row, which stays as it is: nobody else changes it,
// or lists the coach, until the transaction ends. visible is the coach's wish;
// false also where there is no such coach.
//
// Of rows that are locked, those in coaches come before players, and both before
// the coach's account, at which PostgreSQL looks for every row that names it, and
// again where a row in coaches is changed twice. Two that took them in another order
// could wait for each other, which costs a second until PostgreSQL parts them.
func (tx *tx) holdCoach(ctx context.Context, coachID string) (visible bool, err error) {
	err = tx.QueryRow(ctx, `UPDATE coaches SET version = version WHERE id = $1 RETURNING visible`, coachID).Scan(&visible)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return visible, err
}

// source reads a coach's profile and whether the account is suspended.
func (tx *tx) listingSource(ctx context.Context, coachID string) (coach.ListingSource, error) {
	p, err := profile(ctx, tx, coachID)
	if err != nil {
		return coach.ListingSource{}, err
	}
	var suspended sql.NullInt64
	if err := tx.QueryRow(ctx, `SELECT suspended_at FROM accounts WHERE id = $1`, coachID).Scan(&suspended); err != nil {
		return coach.ListingSource{}, fmt.Errorf("account of coach %s: %w", coachID, err)
	}
	return coach.ListingSource{Profile: p, Suspended: suspended.Valid}, nil
}
