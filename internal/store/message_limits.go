package store

import (
	"context"
	"fmt"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
)

// messageQuota is what limits the SMS of one coach.
type messageQuota struct {
	coachID  string
	status   coach.TierStatus
	perCoach int64 // 0 is no limit
}

// messageQuota reads what limits the SMS of a coach. A coach who has closed the
// account has the first tier.
func (tx *tx) messageQuota(ctx context.Context, coachID string) (messageQuota, error) {
	q := messageQuota{coachID: coachID}
	tiers := tx.db.options.Settings.MessagesByTier
	if tiers != nil {
		err := tx.QueryRow(ctx, `SELECT tier, kyc_state FROM coaches WHERE id = $1`, coachID).Scan(intoText(&q.status.Tier), &q.status.KYC)
		if err != nil && !isNone(err) {
			return q, fmt.Errorf("read the tier of coach %s: %w", coachID, err)
		}
	}
	q.perCoach = tiers.MessageLimit(q.status, tx.db.options.Settings.MessagesPerCoach)
	return q, nil
}

// checkMessageQuota returns tier_limit if the coach's tier has no SMS left. The
// caller has locked the counter, so the count is exact.
func (tx *tx) checkMessageQuota(ctx context.Context, q messageQuota) error {
	var sent int64
	err := tx.QueryRow(ctx, `SELECT count(*) FROM limit_slots WHERE key = $1 AND free_at > $2`,
		approval.MessagesFromKey(q.coachID), micros(tx.Now)).Scan(&sent)
	if err != nil {
		return fmt.Errorf("count messages of coach %s: %w", q.coachID, err)
	}
	return tx.db.options.Settings.MessagesByTier.CheckMessages(q.status, sent)
}

// takeMessage counts one message to an address against every message limit, or against
// none if one is exceeded (see countLimits).
func (tx *tx) takeMessage(ctx context.Context, q messageQuota, to string) (*auth.LimitExceeded, error) {
	settings := tx.db.options.Settings
	rules := approval.MessageLimits{PerNumberFromCoach: settings.MessagesPerNumberFromCoach, PerNumber: settings.MessagesPerNumber}
	var limits []auth.Limit
	for _, l := range rules.For(q.coachID, q.perCoach, to) {
		limits = append(limits, auth.Limit{Name: l.Name, Key: l.Key, Max: l.Max, Per: approval.MessageWindow, VariableMax: l.Variable})
	}
	return tx.countLimits(ctx, tx.Now, limits)
}
