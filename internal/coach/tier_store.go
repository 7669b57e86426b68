package coach

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/notice"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/store"
)

// Subscription returns a coach's stored tier and usage.
func (db Store) Subscription(ctx context.Context, coachID string) (Subscription, error) {
	return subscription(ctx, db.DB, coachID, db.DB.Now())
}

func subscription(ctx context.Context, q database.Querier, coachID string, now time.Time) (Subscription, error) {
	var s Subscription
	err := q.QueryRow(ctx, `
		SELECT c.tier, c.requested_tier, c.kyc_state, coalesce(c.tier_since, c.created_at), c.players, c.stored_bytes,
			(SELECT CAST(coalesce(sum(m.size), 0) AS BIGINT) FROM message_counts m WHERE m.counter = $3 AND m.counted_at > $2)
		FROM coaches c WHERE c.id = $1`, coachID, database.Micros(now.Add(-24*time.Hour)), message.TeamCounter(coachID)).
		Scan(database.IntoText(&s.StoredTier), database.IntoText(&s.Requested), &s.KYC, database.IntoTime(&s.Since), &s.Usage.Players, &s.Usage.StorageBytes, &s.Usage.Messages)
	if database.IsNoRows(err) {
		return s, fault.SessionEnded()
	}
	if err != nil {
		return s, fmt.Errorf("read subscription of coach %s: %w", coachID, err)
	}
	return s, nil
}

// UpdateTier calls fn with the coach's choice of a tier and stores what fn returns, unless
// the choice changed meanwhile. fn may run more than once.
func (db Store) UpdateTier(ctx context.Context, coachID string, fn func(TierChoice) (TierChoice, error)) error {
	var from, to string
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		stored, err := tierChoice(ctx, tx, coachID)
		if database.IsNoRows(err) {
			return fault.SessionEnded() // the account has closed since the session was read
		}
		if err != nil {
			return err
		}
		next, err := fn(stored)
		if err != nil {
			return err
		}
		from, to = stored.Tier, next.Tier
		return saveTierChoice(ctx, tx, coachID, stored, next)
	})
	if err == nil && from != to {
		db.changed(ctx, coachID, slog.String("setting", "tier"), slog.String("value", to))
	}
	return err
}

var tierAuditActions = map[TierOutcome]string{
	TierSet: operator.CoachTier, TierApproved: operator.TierApproved, TierRefused: operator.TierRefused,
}

// DecideTier calls fn with the coach's choice of a tier, stores the tier of the decision,
// ends the request for a tier and notifies the coach. fn may run more than once.
func (db Store) DecideTier(ctx context.Context, by actor.Operator, coachID string, fn func(TierChoice) (TierDecision, error)) error {
	var d TierDecision
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		stored, err := tierChoice(ctx, tx, coachID)
		if database.IsNoRows(err) {
			return fault.Missing()
		}
		if err != nil {
			return err
		}
		d, err = fn(stored)
		if err != nil {
			return err
		}
		if err := saveTierChoice(ctx, tx, coachID, stored, TierChoice{Tier: d.Stored}); err != nil {
			return err
		}
		if err := tx.Record(ctx, by, tierAuditActions[d.Outcome], "coach", coachID, d.Named); err != nil || d.Event == nil {
			return err
		}
		return notice.Notify(ctx, tx, []event.Event{*d.Event})
	})
	if err == nil && d.Outcome != TierRefused {
		db.changed(ctx, coachID, slog.String("operator_id", by.ID), slog.String("setting", "tier"), slog.String("value", d.Stored))
	}
	return err
}

// TierRequests returns the requests for tiers, oldest first, and audits the access.
func (db Store) TierRequests(ctx context.Context, by actor.Operator, after TierRequestCursor, limit int) ([]TierRequest, error) {
	var found []TierRequest
	err := db.DB.Write(ctx, func(tx *store.Tx) error {
		rs, err := tx.Query(ctx, `
			SELECT id, name, tier, requested_tier, requested_tier_at FROM coaches
			WHERE requested_tier IS NOT NULL AND (requested_tier_at, id) > ($1, $2)
			ORDER BY requested_tier_at, id LIMIT $3`, after.At.UnixMicro(), after.CoachID, limit)
		found, err = database.Collect(rs, err, func(s database.Scanner) (TierRequest, error) {
			var r TierRequest
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
func tierChoice(ctx context.Context, tx *store.Tx, coachID string) (c TierChoice, err error) {
	err = tx.QueryRow(ctx, `SELECT tier, requested_tier FROM coaches WHERE id = $1`, coachID).Scan(database.IntoText(&c.Tier), database.IntoText(&c.Requested))
	if err != nil {
		return c, fmt.Errorf("read tier of coach %s: %w", coachID, err)
	}
	return c, nil
}

// saveTierChoice changes a coach's choice from before to next; ErrStale if it is no longer
// before. tier_since and requested_tier_at change only with their tier.
func saveTierChoice(ctx context.Context, tx *store.Tx, coachID string, before, next TierChoice) error {
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
	if err := tx.TierChanged(ctx, coachID, before.Tier, next.Tier); err != nil {
		return err
	}
	return ReindexListing(ctx, tx, coachID)
}
