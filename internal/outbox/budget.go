package outbox

import (
	"context"
	"strconv"
	"strings"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/fault"
)

// Spent returns the cost of the messages and OTPs of a budget line in the last 24 h, in the unit of
// Settings.SegmentPrice.
func (st *Store) Spent(ctx context.Context, line message.CostLine) (int64, error) {
	var spent int64
	err := st.DB.View(ctx, func(tx *database.Tx) error {
		count, err := Costs(ctx, tx, line)
		spent = count.Size
		return err
	})
	return spent, err
}

// Costs reads the cost of the messages and OTPs of a budget line in the last 24 h.
func Costs(ctx context.Context, tx *database.Tx, line message.CostLine) (message.WindowCount, error) {
	limit := message.Limit{Counter: string(line), Window: message.CostWindow}
	windows, err := ReadWindows(ctx, tx, limit)
	return windows[message.WindowOf(limit)], err
}

// BudgetHolds reports whether a message waits because it would exceed the part of the budget of its
// line that is not kept for OTPs.
func (st *Store) BudgetHolds(ctx context.Context, line message.CostLine) (held bool, err error) {
	key, over := message.BudgetKey, message.OverBudgetKey
	if line == message.CallCosts {
		key, over = message.CallBudgetKey, message.CallOverBudgetKey
	}
	err = st.DB.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM deliveries WHERE state = 'queued' AND held_by IN ($1, $2))`, key, over).Scan(&held)
	return held, fault.Wrap(err, "find messages that wait for the budget")
}

// LockCosts locks n shards of the costs of OTPs of a line from first until the commit, always in the
// same order. The locks are rows of installation.
func LockCosts(ctx context.Context, tx *database.Tx, line message.CostLine, first, n int) error {
	rows := make([]string, n)
	args := make([]any, n)
	for i := range n {
		rows[i] = "($" + strconv.Itoa(i+1) + ", '')"
		args[i] = line.Shard(first + i)
	}
	err := tx.Defer(ctx, `
		INSERT INTO installation (name, value) VALUES `+strings.Join(rows, ", ")+`
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, args...)
	return fault.Wrap(err, "lock the costs of OTPs")
}
