package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/notify"
)

// SMSSpent returns the cost of the messages and OTPs of the last 24 h, in the unit of
// Settings.SegmentPrice.
func (db *DB) SMSSpent(ctx context.Context) (int64, error) {
	var spent int64
	err := db.sql.QueryRow(ctx, `
		SELECT coalesce((SELECT total FROM message_counts WHERE counter = $1 ORDER BY counted_at DESC LIMIT 1)
			- (SELECT total - size FROM message_counts WHERE counter = $1 AND counted_at > $2 ORDER BY counted_at LIMIT 1), 0)`,
		approval.CostCounter, micros(db.Now().Add(-approval.CostWindow))).Scan(&spent)
	if err != nil {
		return 0, fmt.Errorf("read the cost of messages: %w", err)
	}
	return spent, nil
}

// BudgetHolds reports whether a message waits because it would exceed the part of the budget that
// is not kept for OTPs.
func (db *DB) BudgetHolds(ctx context.Context) (held bool, err error) {
	err = db.sql.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM deliveries WHERE state = 'queued' AND held_by IN ($1, $2))`,
		approval.BudgetKey, approval.OverBudgetKey).Scan(&held)
	if err != nil {
		return false, fmt.Errorf("find messages that wait for the budget: %w", err)
	}
	return held, nil
}

// budgetExceeded returns how long the budget refuses the OTP of a request, or nil. It only
// reads: the worker counts the cost when it claims the OTP, so requests do not wait for
// each other. A request of a guardian or student that sends nothing is treated like one
// that sends.
func (tx *tx) budgetExceeded(ctx context.Context, r auth.ChallengeRequest, roles auth.RoleFacts) (*auth.LimitExceeded, error) {
	settings, key := tx.db.options.Settings, r.Challenge.ChallengeKey
	limits := settings.Messages.For(approval.OutgoingMessage{
		To: string(key.Number), Segments: 1, Cost: settings.segmentPrice(notify.Channel(r.Channel), key.Number),
		OTP: true, HoldsRole: roles.Held() || key.Role != actor.Coach,
	})
	windows, err := tx.messageWindows(ctx, []candidate{{limits: limits}})
	if err != nil {
		return nil, err
	}
	var exceeded *auth.LimitExceeded
	for _, l := range limits {
		if wait := l.Wait(windows[approval.WindowOf(l)], tx.Now); wait > 0 {
			exceeded = auth.LongerWait(exceeded, &auth.LimitExceeded{Name: "sms_budget", Wait: max(wait, time.Second)})
		}
	}
	return exceeded, nil
}
