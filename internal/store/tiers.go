package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/operator"
)

var _ coach.SubscriptionStore = (*DB)(nil)

// Subscription returns a coach's stored tier and usage.
func (db *DB) Subscription(ctx context.Context, coachID string) (coach.Subscription, error) {
	return subscription(ctx, db.sql, coachID, db.Now())
}

func subscription(ctx context.Context, q database.Querier, coachID string, now time.Time) (coach.Subscription, error) {
	var s coach.Subscription
	err := q.QueryRow(ctx, `
		SELECT c.tier, c.requested_tier, coalesce(c.tier_since, c.created_at), c.players, c.stored_bytes,
			(SELECT CAST(coalesce(sum(m.size), 0) AS BIGINT) FROM message_counts m WHERE m.counter = $3 AND m.counted_at > $2)
		FROM coaches c WHERE c.id = $1`, coachID, micros(now.Add(-24*time.Hour)), approval.CoachCounter(coachID)).
		Scan(intoText(&s.StoredTier), intoText(&s.Requested), intoTime(&s.Since), &s.Usage.Players, &s.Usage.StorageBytes, &s.Usage.Messages)
	if isNone(err) {
		return s, auth.ErrSessionEnded()
	}
	if err != nil {
		return s, fmt.Errorf("read subscription of coach %s: %w", coachID, err)
	}
	return s, nil
}

// UpdateTier calls fn with the stored tier and stores the tier that fn returns,
// unless the stored one changed meanwhile. fn may run more than once.
func (db *DB) UpdateTier(ctx context.Context, coachID string, fn func(stored string) (string, error)) error {
	return db.write(ctx, func(tx *tx) error {
		stored, err := tx.tier(ctx, coachID)
		if isNone(err) {
			return auth.ErrSessionEnded() // the account has closed since the session was read
		}
		if err != nil {
			return err
		}
		next, err := fn(stored)
		if err != nil || next == stored {
			return err
		}
		return tx.setTier(ctx, coachID, stored, next)
	})
}

// RequestTier stores the tier that a coach asks for, or "" for none.
func (db *DB) RequestTier(ctx context.Context, coachID, name string) error {
	return db.write(ctx, func(tx *tx) error {
		return tx.Defer(ctx, `
			UPDATE coaches SET requested_tier = CAST($2 AS TEXT)
			WHERE id = $1 AND requested_tier IS DISTINCT FROM CAST($2 AS TEXT)`, coachID, text(name))
	})
}

// SetTier stores a coach's tier, ends a request for a tier and writes the audit log entry.
func (db *DB) SetTier(ctx context.Context, by actor.Operator, coachID, name string) error {
	return db.write(ctx, func(tx *tx) error {
		stored, err := tx.tier(ctx, coachID)
		if isNone(err) {
			return fault.Missing()
		}
		if err != nil {
			return err
		}
		if stored != name {
			if err := tx.setTier(ctx, coachID, stored, name); err != nil {
				return err
			}
		}
		if err := tx.Defer(ctx, `UPDATE coaches SET requested_tier = NULL WHERE id = $1 AND requested_tier IS NOT NULL`, coachID); err != nil {
			return fmt.Errorf("end tier request of coach %s: %w", coachID, err)
		}
		return tx.audit(ctx, by, operator.CoachTier, "coach", coachID, name)
	})
}

// tier returns the name of a coach's stored tier, "" for none.
func (tx *tx) tier(ctx context.Context, coachID string) (stored string, err error) {
	err = tx.QueryRow(ctx, `SELECT tier FROM coaches WHERE id = $1`, coachID).Scan(intoText(&stored))
	if err != nil {
		return "", fmt.Errorf("read tier of coach %s: %w", coachID, err)
	}
	return stored, nil
}

// setTier changes the stored tier from before to next; ErrStale if it is no longer before.
func (tx *tx) setTier(ctx context.Context, coachID, before, next string) error {
	err := tx.ExecOne(ctx, `
		UPDATE coaches SET tier = $3, tier_since = $4
		WHERE id = $1 AND tier IS NOT DISTINCT FROM CAST($2 AS TEXT)`,
		coachID, text(before), text(next), micros(tx.Now))
	if err != nil {
		return fmt.Errorf("set tier of coach %s: %w", coachID, err)
	}
	return tx.reindexListing(ctx, coachID)
}

// registerPlayer counts one more player of the coach and returns the roster. It
// counts before the limit is checked, so that concurrent requests see each other.
func (tx *tx) registerPlayer(ctx context.Context, coachID string) (approval.Roster, error) {
	var r approval.Roster
	err := tx.QueryRow(ctx, `
		UPDATE coaches SET players = players + 1 WHERE id = $1
		RETURNING players, tier, kyc_state`, coachID).
		Scan(&r.Players, intoText(&r.Tier), &r.KYC)
	if isNone(err) {
		return r, auth.ErrSessionEnded() // the account has closed since the session was read
	}
	if err != nil {
		return r, fmt.Errorf("count players of coach %s: %w", coachID, err)
	}
	return r, nil
}

// unregisterPlayer counts one player less.
func (tx *tx) unregisterPlayer(ctx context.Context, coachID string) error {
	err := tx.Defer(ctx, `UPDATE coaches SET players = players - 1 WHERE id = $1`, coachID)
	if err != nil {
		return fmt.Errorf("count players of coach %s: %w", coachID, err)
	}
	return nil
}
