package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fault"
)

// Source returns everything that the directory is made of for one coach.
func (db *DB) Source(ctx context.Context, coachID string) (coach.Source, error) {
	var s coach.Source
	err := db.view(ctx, func(tx *tx) (err error) {
		s, err = tx.source(ctx, tx.queryRow(ctx, `
			SELECT id, name, email, bio, experience_years, sports, tier, kyc_state, picture_id, visible, shown
			FROM coaches WHERE id = $1`, coachID))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return s, fault.Missing()
	}
	return s, err
}

// SetVisibility loads what the directory is made of, lets fn say what the coach
// wishes, and saves that with the listing. fn may run more than once.
func (db *DB) SetVisibility(ctx context.Context, coachID string, fn func(coach.Source) (coach.Wish, error)) error {
	return db.write(ctx, func(tx *tx) error {
		s, err := tx.holdSource(ctx, coachID)
		if errors.Is(err, sql.ErrNoRows) {
			return fault.Missing()
		}
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
	return tx.source(ctx, tx.queryRow(ctx, `
		UPDATE coaches SET version = version WHERE id = $1
		RETURNING id, name, email, bio, experience_years, sports, tier, kyc_state, picture_id, visible, shown`, coachID))
}

// source reads the rest of what a row of coaches begins.
func (tx *tx) source(ctx context.Context, r *row) (coach.Source, error) {
	var (
		s             coach.Source
		years         sql.NullInt64
		sports, shown string
		picture       string
	)
	err := r.Scan(&s.ID, intoText(&s.Name), intoText(&s.Email), intoText(&s.Bio), &years, &sports,
		intoText(&s.Tier), &s.KYC, intoText(&picture), &s.Visible, &shown)
	if err != nil {
		return s, err
	}
	if years.Valid {
		n := int(years.Int64)
		s.Experience = &n
	}
	if err := errors.Join(json.Unmarshal([]byte(sports), &s.Sports), json.Unmarshal([]byte(shown), &s.Show)); err != nil {
		return s, fmt.Errorf("coach %s: %w", s.ID, err)
	}
	var suspended sql.NullInt64
	if err := tx.queryRow(ctx, `SELECT suspended_at FROM accounts WHERE id = $1`, s.ID).Scan(&suspended); err != nil {
		return s, fmt.Errorf("account of coach %s: %w", s.ID, err)
	}
	s.Suspended = suspended.Valid
	return s, tx.sourceDocuments(ctx, &s, picture)
}

// sourceDocuments reads the certificates that the profile names, and its picture.
func (tx *tx) sourceDocuments(ctx context.Context, s *coach.Source, picture string) error {
	rs, err := tx.query(ctx, `
		SELECT id, kind, title, expires_on, in_profile, width, height, variants FROM documents
		WHERE coach_id = $1 AND (in_profile = TRUE OR id = $2) ORDER BY id`, s.ID, picture)
	_, err = collect(rs, err, func(r scanner) (struct{}, error) {
		var (
			id, kind, variants string
			c                  coach.Certificate
			named              bool
			width, height      sql.NullInt64
		)
		if err := r.Scan(&id, &kind, &c.Title, intoText(&c.Until), &named, &width, &height, &variants); err != nil {
			return struct{}{}, err
		}
		switch {
		case id == picture:
			s.Portrait = &coach.Portrait{DocumentID: id, Width: int(width.Int64), Height: int(height.Int64)}
			var sizes []pictureSizeCard
			if err := json.Unmarshal([]byte(variants), &sizes); err != nil {
				return struct{}{}, fmt.Errorf("variants of document %s: %w", id, err)
			}
			for _, size := range sizes {
				s.Portrait.Sizes = append(s.Portrait.Sizes, coach.PortraitSize(size))
			}
		case named && (kind == "certification" || kind == "qualification"):
			s.Certificates = append(s.Certificates, c)
		}
		return struct{}{}, nil
	})
	return err
}
