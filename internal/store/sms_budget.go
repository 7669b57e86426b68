package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
)

// SMSSpent returns the cost of the messages and OTPs of the last 24 h, in the unit of
// Settings.SegmentPrice.
func (db *DB) SMSSpent(ctx context.Context) (int64, error) {
	var spent int64
	err := db.View(ctx, func(tx *Tx) error {
		count, err := tx.costs(ctx)
		spent = count.Size
		return err
	})
	return spent, err
}

// costs reads the cost of the messages and OTPs of the last 24 h.
func (tx *Tx) costs(ctx context.Context) (message.WindowCount, error) {
	limit := message.Limit{Counter: message.CostCounter, Window: message.CostWindow}
	windows, err := tx.messageWindows(ctx, []candidate{{limits: []message.Limit{limit}}})
	return windows[message.WindowOf(limit)], err
}

// BudgetHolds reports whether a message waits because it would exceed the part of the budget that
// is not kept for OTPs.
func (db *DB) BudgetHolds(ctx context.Context) (held bool, err error) {
	err = db.sql.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM deliveries WHERE state = 'queued' AND held_by IN ($1, $2))`,
		message.BudgetKey, message.OverBudgetKey).Scan(&held)
	if err != nil {
		return false, fmt.Errorf("find messages that wait for the budget: %w", err)
	}
	return held, nil
}

// budgetReservation reserves the cost of an OTP. It belongs to one call of DB.write and
// remembers between the attempts whether the budget is nearly spent.
//
// The cost is counted in one of costShards counters. A request locks the row of its shard,
// then reads all counters. It does not see the costs of transactions in progress, but these
// are at most one for each shard. So it accepts only if costShards times the highest cost are
// left. Otherwise it runs again and locks all shards, as the worker does when it counts the
// cost of messages: requests wait for each other only near the end of the budget.
type budgetReservation struct {
	db    *DB
	exact bool
	// reserved is true if this attempt reserved the cost.
	reserved bool
	// blocked is true if too many wrong codes block the number or device, so that no OTP leaves.
	blocked bool
}

// reserve reserves the cost of the OTP of r. It returns how long the budget refuses it, or
// nil. A mail costs nothing. A request that sends nothing reserves nothing, but takes the same steps. For a guardian or
// student the budget refuses it exactly when it would refuse one that sends.
func (b *budgetReservation) reserve(ctx context.Context, tx *Tx, r auth.ChallengeRequest, roles auth.RoleFacts) (*auth.LimitExceeded, error) {
	settings, key := tx.db.options.Settings, r.Challenge.ChallengeKey
	if b.reserved = false; settings.Messages.Budget == 0 || r.Channel == string(message.Email) {
		return nil, nil
	}
	shard := int(b.db.shards.Add(1) % costShards)
	first, n, exact := shard, 1, b.exact || settings.MaxOTPCost == 0
	if exact {
		first, n = 0, costShards
	}
	if err := tx.lockCosts(ctx, first, n); err != nil {
		return nil, err
	}
	var language string
	err := tx.DeferRow(ctx, func(row database.Scanner) error { return row.Scan(database.IntoText(&language)) },
		`SELECT (SELECT language FROM preferences WHERE mobile_number = $1)`, string(key.Number))
	if err != nil {
		return nil, fmt.Errorf("read the language: %w", err)
	}
	spent, err := tx.costs(ctx)
	if err != nil {
		return nil, err
	}
	otp := message.Counted{
		To: string(key.Number), Cost: settings.otpCost(message.Channel(r.Channel), key, language),
		OTP: true, HoldsRole: roles.Held() || key.Role != actor.Coach,
	}
	var exceeded *auth.LimitExceeded
	for _, l := range settings.Messages.For(otp) {
		if !exact && spent.Size+costShards*settings.MaxOTPCost > l.Max {
			b.exact = true
			return nil, database.ErrStale
		}
		if wait := l.Wait(spent, tx.Now); wait > 0 {
			exceeded = auth.LongerWait(exceeded, &auth.LimitExceeded{Name: "sms_budget", Wait: max(wait, time.Second)})
		}
	}
	if exceeded != nil || otp.Cost == 0 || r.Channel == "" || b.blocked || !roles.MaySignIn(key.Role) {
		return exceeded, nil
	}
	b.reserved = true
	return nil, tx.addCounts(ctx, []message.Count{{Counter: costShard(shard), Size: otp.Cost}})
}

// costShards is how many counters the costs of OTPs have, besides message.CostCounter.
const costShards = 8

// costShard returns the counter of a shard.
func costShard(shard int) string { return message.CostCounter + "/otp/" + strconv.Itoa(shard) }

// lockCosts locks n shards of the costs of OTPs from first until the commit, always in the same
// order. The locks are rows of installation.
func (tx *Tx) lockCosts(ctx context.Context, first, n int) error {
	rows := make([]string, n)
	args := make([]any, n)
	for i := range n {
		rows[i] = "($" + strconv.Itoa(i+1) + ", '')"
		args[i] = costShard(first + i)
	}
	err := tx.Defer(ctx, `
		INSERT INTO installation (name, value) VALUES `+strings.Join(rows, ", ")+`
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, args...)
	if err != nil {
		return fmt.Errorf("lock the costs of OTPs: %w", err)
	}
	return nil
}
