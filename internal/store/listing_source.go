package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/platform/database"
)

// ListingSource returns the data from which the listing of one coach is made.
func (db *DB) ListingSource(ctx context.Context, coachID string) (s coach.ListingSource, err error) {
	return s, db.View(ctx, func(tx *Tx) (err error) {
		s, err = tx.listingSource(ctx, coachID)
		return err
	})
}

// SetVisibility loads the source of the listing, lets fn decide the visibility, and
// saves it with the listing. fn may run more than once.
func (db *DB) SetVisibility(ctx context.Context, coachID string, fn func(coach.ListingSource) (coach.VisibilityRequest, error)) error {
	return db.Write(ctx, func(tx *Tx) error {
		if _, err := tx.LockCoach(ctx, coachID); err != nil {
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
			coachID, s.Visible, string(shown), database.Micros(tx.Now)); err != nil {
			return err
		}
		return tx.saveListing(ctx, s)
	})
}

// LockCoach locks the coach's row until the transaction ends, so that no other
// transaction changes or lists the coach. It returns whether the coach chose to be
// visible; false if there is no such coach.
//
// Lock order: coaches, then players, then the coach's account. PostgreSQL locks the
// account for the foreign key of each inserted row that refers to it. Another order
// deadlocks, and PostgreSQL takes a second to detect that.
func (tx *Tx) LockCoach(ctx context.Context, coachID string) (visible bool, err error) {
	err = tx.QueryRow(ctx, `UPDATE coaches SET version = version WHERE id = $1 RETURNING visible`, coachID).Scan(&visible)
	if database.IsNoRows(err) {
		return false, nil
	}
	return visible, err
}

// listingSource reads a coach's profile and whether the account is suspended.
func (tx *Tx) listingSource(ctx context.Context, coachID string) (coach.ListingSource, error) {
	p, err := profile(ctx, tx, coachID)
	if err != nil {
		return coach.ListingSource{}, err
	}
	var suspended sql.NullInt64
	if err := tx.QueryRow(ctx, `SELECT suspended_at FROM accounts WHERE id = $1`, coachID).Scan(&suspended); err != nil {
		return coach.ListingSource{}, fmt.Errorf("read account of coach %s: %w", coachID, err)
	}
	return coach.ListingSource{Profile: p, Suspended: suspended.Valid}, nil
}
