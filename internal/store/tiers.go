package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/event"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
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
		FROM coaches c WHERE c.id = $1`, coachID, database.Micros(now.Add(-24*time.Hour)), message.TeamCounter(coachID)).
		Scan(database.IntoText(&s.StoredTier), database.IntoText(&s.Requested), database.IntoTime(&s.Since), &s.Usage.Players, &s.Usage.StorageBytes, &s.Usage.Messages)
	if database.IsNoRows(err) {
		return s, auth.ErrSessionEnded()
	}
	if err != nil {
		return s, fmt.Errorf("read subscription of coach %s: %w", coachID, err)
	}
	return s, nil
}

// UpdateTier calls fn with the coach's choice of a tier and stores what fn returns, unless
// the choice changed meanwhile. fn may run more than once.
func (db *DB) UpdateTier(ctx context.Context, coachID string, fn func(coach.TierChoice) (coach.TierChoice, error)) error {
	return db.Write(ctx, func(tx *Tx) error {
		stored, err := tx.tierChoice(ctx, coachID)
		if database.IsNoRows(err) {
			return auth.ErrSessionEnded() // the account has closed since the session was read
		}
		if err != nil {
			return err
		}
		next, err := fn(stored)
		if err != nil {
			return err
		}
		return tx.saveTierChoice(ctx, coachID, stored, next)
	})
}

var tierAuditActions = map[coach.TierOutcome]string{
	coach.TierSet: operator.CoachTier, coach.TierApproved: operator.TierApproved, coach.TierRefused: operator.TierRefused,
}

// DecideTier calls fn with the coach's choice of a tier, stores the tier of the decision,
// ends the request for a tier and notifies the coach. fn may run more than once.
func (db *DB) DecideTier(ctx context.Context, by actor.Operator, coachID string, fn func(coach.TierChoice) (coach.TierDecision, error)) error {
	return db.Write(ctx, func(tx *Tx) error {
		stored, err := tx.tierChoice(ctx, coachID)
		if database.IsNoRows(err) {
			return fault.Missing()
		}
		if err != nil {
			return err
		}
		d, err := fn(stored)
		if err != nil {
			return err
		}
		if err := tx.saveTierChoice(ctx, coachID, stored, coach.TierChoice{Tier: d.Stored}); err != nil {
			return err
		}
		if err := tx.Record(ctx, by, tierAuditActions[d.Outcome], "coach", coachID, d.Named); err != nil || d.Event == nil {
			return err
		}
		return tx.Notify(ctx, []event.Event{*d.Event})
	})
}

// TierRequests returns the requests for tiers, oldest first, and audits the access.
func (db *DB) TierRequests(ctx context.Context, by actor.Operator, after coach.TierRequestCursor, limit int) ([]coach.TierRequest, error) {
	var found []coach.TierRequest
	err := db.Write(ctx, func(tx *Tx) error {
		rs, err := tx.Query(ctx, `
			SELECT id, name, tier, requested_tier, requested_tier_at FROM coaches
			WHERE requested_tier IS NOT NULL AND (requested_tier_at, id) > ($1, $2)
			ORDER BY requested_tier_at, id LIMIT $3`, after.At.UnixMicro(), after.CoachID, limit)
		found, err = database.Collect(rs, err, func(s database.Scanner) (coach.TierRequest, error) {
			var r coach.TierRequest
			err := s.Scan(&r.CoachID, database.IntoText(&r.CoachName), database.IntoText(&r.Tier), &r.Requested, database.IntoTime(&r.At))
			return r, err
		})
		if err != nil {
			return fmt.Errorf("list requests for tiers: %w", err)
		}
		return tx.Record(ctx, by, operator.TiersListed, "queue", "", "")
	})
	return found, err
}

// tierChoice returns a coach's stored tier and request for a tier.
func (tx *Tx) tierChoice(ctx context.Context, coachID string) (c coach.TierChoice, err error) {
	err = tx.QueryRow(ctx, `SELECT tier, requested_tier FROM coaches WHERE id = $1`, coachID).Scan(database.IntoText(&c.Tier), database.IntoText(&c.Requested))
	if err != nil {
		return c, fmt.Errorf("read tier of coach %s: %w", coachID, err)
	}
	return c, nil
}

// saveTierChoice changes a coach's choice from before to next; ErrStale if it is no longer
// before. tier_since and requested_tier_at change only with their tier.
func (tx *Tx) saveTierChoice(ctx context.Context, coachID string, before, next coach.TierChoice) error {
	if next == before {
		return nil
	}
	err := tx.ExecOne(ctx, `
		UPDATE coaches SET tier = $4, requested_tier = $5,
			tier_since = CASE WHEN $6 THEN $7 ELSE tier_since END,
			requested_tier_at = CASE WHEN $8 THEN $7 ELSE requested_tier_at END
		WHERE id = $1 AND tier IS NOT DISTINCT FROM CAST($2 AS TEXT) AND requested_tier IS NOT DISTINCT FROM CAST($3 AS TEXT)`,
		coachID, database.Text(before.Tier), database.Text(before.Requested), database.Text(next.Tier), database.Text(next.Requested),
		next.Tier != before.Tier, database.Micros(tx.Now), next.Requested != before.Requested)
	if err != nil {
		return fmt.Errorf("set tier of coach %s: %w", coachID, err)
	}
	if next.Tier == before.Tier {
		return nil
	}
	if err := tx.db.options.Hooks.TierChanged(ctx, tx, coachID, before.Tier, next.Tier); err != nil {
		return err
	}
	return tx.ReindexListing(ctx, coachID)
}
