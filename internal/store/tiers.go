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

// Subscription returns a coach's tier as it is kept, and what is in use.
func (db *DB) Subscription(ctx context.Context, coachID string) (coach.Subscription, error) {
	return subscription(ctx, db.sql, coachID, db.Now())
}

func subscription(ctx context.Context, q database.Querier, coachID string, now time.Time) (coach.Subscription, error) {
	var s coach.Subscription
	err := q.QueryRow(ctx, `
		SELECT c.tier, coalesce(c.tier_since, c.created_at), c.players, c.stored_bytes,
			(SELECT count(*) FROM limit_slots s WHERE s.key = $2 AND s.free_at > $3)
		FROM coaches c WHERE c.id = $1`, coachID, approval.MessagesFromKey(coachID), micros(now)).
		Scan(intoText(&s.StoredTier), intoTime(&s.Since), &s.Usage.Players, &s.Usage.StorageBytes, &s.Usage.Messages)
	if isNone(err) {
		return s, auth.ErrEnded()
	}
	if err != nil {
		return s, fmt.Errorf("read a subscription: %w", err)
	}
	return s, nil
}

// UpdateTier lets fn say which tier follows the one that is kept, and keeps it if
// nobody set another meanwhile. fn may run more than once.
func (db *DB) UpdateTier(ctx context.Context, coachID string, fn func(kept string) (string, error)) error {
	return db.write(ctx, func(tx *tx) error {
		kept, err := tx.tier(ctx, coachID)
		if isNone(err) {
			return auth.ErrEnded() // the account has closed since the session was read
		}
		if err != nil {
			return err
		}
		next, err := fn(kept)
		if err != nil || next == kept {
			return err
		}
		return tx.setTier(ctx, coachID, kept, next)
	})
}

// SetTier gives a coach a tier and records that the operator did.
func (db *DB) SetTier(ctx context.Context, by actor.Operator, coachID, name string) error {
	return db.write(ctx, func(tx *tx) error {
		kept, err := tx.tier(ctx, coachID)
		if isNone(err) {
			return fault.Missing()
		}
		if err != nil {
			return err
		}
		if kept != name {
			if err := tx.setTier(ctx, coachID, kept, name); err != nil {
				return err
			}
		}
		return tx.audit(ctx, by, operator.CoachTier, "coach", coachID, name)
	})
}

// tier returns the name of a coach's tier as it is kept, "" for none.
func (tx *tx) tier(ctx context.Context, coachID string) (kept string, err error) {
	err = tx.QueryRow(ctx, `SELECT tier FROM coaches WHERE id = $1`, coachID).Scan(intoText(&kept))
	if err != nil {
		return "", fmt.Errorf("read the tier: %w", err)
	}
	return kept, nil
}

// setTier gives the coach the tier next if the one that is kept is before still:
// ErrStale otherwise.
func (tx *tx) setTier(ctx context.Context, coachID, before, next string) error {
	err := tx.ExecOne(ctx, `
		UPDATE coaches SET tier = $3, tier_since = $4
		WHERE id = $1 AND tier IS NOT DISTINCT FROM CAST($2 AS TEXT)`,
		coachID, text(before), text(next), micros(tx.Now))
	if err != nil {
		return fmt.Errorf("set the tier: %w", err)
	}
	return tx.reindexListing(ctx, coachID)
}

// enrol counts one more player of the coach, before anything is compared with the
// count: so of rivals each sees the others.
func (tx *tx) registerPlayer(ctx context.Context, coachID string) (approval.Roster, error) {
	var r approval.Roster
	err := tx.QueryRow(ctx, `
		UPDATE coaches SET players = players + 1 WHERE id = $1
		RETURNING players, tier, kyc_state`, coachID).
		Scan(&r.Players, intoText(&r.Tier), &r.KYC)
	if isNone(err) {
		return r, auth.ErrEnded() // the account has closed since the session was read
	}
	if err != nil {
		return r, fmt.Errorf("count the players of %s: %w", coachID, err)
	}
	return r, nil
}

// strike counts one player less.
func (tx *tx) unregisterPlayer(ctx context.Context, coachID string) error {
	err := tx.Defer(ctx, `UPDATE coaches SET players = players - 1 WHERE id = $1`, coachID)
	if err != nil {
		return fmt.Errorf("count the players of %s: %w", coachID, err)
	}
	return nil
}
