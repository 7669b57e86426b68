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

// Profile returns a coach's profile.
func (db *DB) Profile(ctx context.Context, coachID string) (coach.Profile, error) {
	return profile(ctx, db, coachID)
}

// filledBy names the fields of a profile that are set, as coach.Profile.Missing
// judges them; an account's id and a closing parenthesis must follow. It is NULL
// where there is no profile.
const filledBy = `(SELECT CASE WHEN c.name IS NULL THEN '' ELSE 'name,' END
		|| CASE WHEN c.email IS NULL THEN '' ELSE 'email,' END
		|| CASE WHEN c.bio IS NULL THEN '' ELSE 'bio,' END
		|| CASE WHEN c.experience_years IS NULL THEN '' ELSE 'experience_years,' END
		|| CASE WHEN c.sports = '[]' THEN '' ELSE 'sports,' END
	FROM coaches c WHERE c.id = `

// Filled returns which fields of its profile an account has set; none where it
// has no profile.
func (db *DB) Filled(ctx context.Context, accountID string) (filled []string, err error) {
	return filled, db.queryRow(ctx, `SELECT `+filledBy+`$1)`, accountID).Scan(intoWords(&filled))
}

func profile(ctx context.Context, q querier, coachID string) (coach.Profile, error) {
	var (
		p      coach.Profile
		years  sql.NullInt64
		sports string
		shown  string
	)
	err := q.queryRow(ctx, `
		SELECT c.id, a.mobile_number, c.name, c.email, c.bio, c.experience_years, c.sports, c.visible, c.shown, c.tier, c.kyc_state, c.version, c.created_at, c.updated_at
		FROM coaches c JOIN accounts a ON a.id = c.id
		WHERE c.id = $1`, coachID).
		Scan(&p.ID, &p.Number, intoText(&p.Name), intoText(&p.Email), intoText(&p.Bio), &years, &sports, &p.Visible, &shown, intoText(&p.Tier), &p.KYC, &p.Version,
			intoTime(&p.CreatedAt), intoTime(&p.UpdatedAt))
	if errors.Is(err, sql.ErrNoRows) {
		return p, fault.Missing()
	}
	if err != nil {
		return p, err
	}
	if years.Valid {
		n := int(years.Int64)
		p.Experience = &n
	}
	if err := json.Unmarshal([]byte(sports), &p.Sports); err != nil {
		return p, fmt.Errorf("sports of coach %s: %w", coachID, err)
	}
	if err := json.Unmarshal([]byte(shown), &p.Show); err != nil {
		return p, fmt.Errorf("visibility of coach %s: %w", coachID, err)
	}
	return p, nil
}

// UpdateProfile loads a profile, lets fn change it, and saves it if nobody saved
// meanwhile. fn may run more than once.
func (db *DB) UpdateProfile(ctx context.Context, coachID string, fn func(coach.Profile) (coach.Profile, error)) error {
	return db.write(ctx, func(tx *tx) error {
		p, err := profile(ctx, tx, coachID)
		if err != nil {
			return err
		}
		if p, err = fn(p); err != nil {
			return err
		}
		if p.Sports == nil {
			p.Sports = []string{}
		}
		sports, err := json.Marshal(p.Sports)
		if err != nil {
			return err
		}
		var years any
		if p.Experience != nil {
			years = *p.Experience
		}
		err = tx.execOne(ctx, `
			UPDATE coaches
			SET name = $3, email = $4, bio = $5, experience_years = $6, sports = $7, updated_at = $8, version = version + 1
			WHERE id = $1 AND version = $2`,
			coachID, p.Version, text(p.Name), text(p.Email), text(p.Bio), years, string(sports), micros(p.UpdatedAt))
		if err != nil {
			return err
		}
		return tx.relist(ctx, coachID)
	})
}
