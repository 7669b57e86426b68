package message

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/platform/database"
)

// SMSSpent returns the cost of the messages and OTPs of the last 24 h, in the unit of
// Settings.SegmentPrice.
func (st *Store) SMSSpent(ctx context.Context) (int64, error) {
	var spent int64
	err := st.DB.View(ctx, func(tx *database.Tx) error {
		count, err := Costs(ctx, tx)
		spent = count.Size
		return err
	})
	return spent, err
}

// Costs reads the cost of the messages and OTPs of the last 24 h.
func Costs(ctx context.Context, tx *database.Tx) (WindowCount, error) {
	limit := Limit{Counter: CostCounter, Window: CostWindow}
	windows, err := ReadWindows(ctx, tx, limit)
	return windows[WindowOf(limit)], err
}

// BudgetHolds reports whether a message waits because it would exceed the part of the budget that
// is not kept for OTPs.
func (st *Store) BudgetHolds(ctx context.Context) (held bool, err error) {
	err = st.DB.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM deliveries WHERE state = 'queued' AND held_by IN ($1, $2))`,
		BudgetKey, OverBudgetKey).Scan(&held)
	if err != nil {
		return false, fmt.Errorf("find messages that wait for the budget: %w", err)
	}
	return held, nil
}

// CostShards is how many counters the costs of OTPs have, besides CostCounter.
const CostShards = 8

// CostShard returns the counter of a shard.
func CostShard(shard int) string { return CostCounter + "/otp/" + strconv.Itoa(shard) }

// LockCosts locks n shards of the costs of OTPs from first until the commit, always in the same
// order. The locks are rows of installation.
func LockCosts(ctx context.Context, tx *database.Tx, first, n int) error {
	rows := make([]string, n)
	args := make([]any, n)
	for i := range n {
		rows[i] = "($" + strconv.Itoa(i+1) + ", '')"
		args[i] = CostShard(first + i)
	}
	err := tx.Defer(ctx, `
		INSERT INTO installation (name, value) VALUES `+strings.Join(rows, ", ")+`
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, args...)
	if err != nil {
		return fmt.Errorf("lock the costs of OTPs: %w", err)
	}
	return nil
}
