package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// budgetReservation reserves the cost of an OTP. It belongs to one call of DB.write and
// remembers between the attempts whether the budget is nearly spent.
//
// The cost is counted in one of message.CostShards counters. A request locks the row of its shard,
// then reads all counters of its budget line. It does not see the costs of transactions in progress, but these
// are at most one for each shard. So it accepts only if message.CostShards times the highest cost are
// left. Otherwise it runs again and locks all shards, as the worker does when it counts the
// cost of messages: requests wait for each other only near the end of the budget.
type budgetReservation struct {
	db    Store
	exact bool
	// reserved is true if this attempt reserved the cost.
	reserved bool
	// blocked is true if too many wrong codes block the number or device, so that no OTP leaves.
	blocked bool
}

// reserve reserves the cost of the OTP of r. It returns how long the budget refuses it, or
// nil. A mail costs nothing. A request that sends nothing reserves nothing, but takes the same steps. For a guardian or
// student the budget refuses it exactly when it would refuse one that sends.
func (b *budgetReservation) reserve(ctx context.Context, tx *store.Tx, r ChallengeRequest, roles RoleFacts) (*LimitExceeded, error) {
	settings, key := b.db.DB.Settings(), r.Challenge.ChallengeKey
	line, budget, maxCost := message.SMSCosts, settings.Outbox.Limits.Budget, settings.MaxOTPCost
	limitName := "sms_budget"
	if r.Channel == string(message.Voice) {
		line, budget, maxCost = message.CallCosts, settings.Outbox.Limits.CallBudget, settings.MaxCallCost
		limitName = "call_budget"
	}
	b.reserved = false
	if budget == 0 || r.Channel == string(message.Email) {
		return nil, nil
	}
	shard := int(b.db.DB.CountRequest() % message.CostShards)
	first, n, exact := shard, 1, b.exact || maxCost == 0
	if exact {
		first, n = 0, message.CostShards
	}
	if err := outbox.LockCosts(ctx, tx.Tx, line, first, n); err != nil {
		return nil, err
	}
	var language string
	err := tx.DeferRow(ctx, func(row database.Scanner) error { return row.Scan(database.IntoText(&language)) },
		`SELECT (SELECT language FROM preferences WHERE mobile_number = $1)`, string(key.Number))
	if err != nil {
		return nil, fmt.Errorf("read the language: %w", err)
	}
	spent, err := outbox.Costs(ctx, tx.Tx, line)
	if err != nil {
		return nil, err
	}
	otp := message.Counted{
		To: string(key.Number), Line: line, Cost: b.db.otpCost(message.Channel(r.Channel), key, language),
		OTP: true, HoldsRole: roles.Held() || key.Role != actor.Coach,
	}
	var exceeded *LimitExceeded
	for _, l := range settings.Outbox.Limits.For(otp) {
		if !exact && spent.Size+message.CostShards*maxCost > l.Max {
			b.exact = true
			return nil, database.ErrStale
		}
		if wait := l.Wait(spent, tx.Now); wait > 0 {
			exceeded = LongerWait(exceeded, &LimitExceeded{Name: limitName, Wait: max(wait, time.Second)})
		}
	}
	if exceeded != nil || otp.Cost == 0 || r.Channel == "" || b.blocked || !roles.MaySignIn(key.Role) {
		return exceeded, nil
	}
	b.reserved = true
	return nil, outbox.AddCounts(ctx, tx.Tx, []message.Count{{Counter: line.Shard(shard), Size: otp.Cost}})
}

// otpCost returns the cost of an OTP.
func (db Store) otpCost(channel message.Channel, key ChallengeKey, language string) int64 {
	segments := 1
	if segmentsOf := db.DB.Settings().OTPSegments; segmentsOf != nil && channel != message.Voice {
		segments = segmentsOf(key.Role, language)
	}
	return int64(segments) * db.DB.Settings().Outbox.Price(channel, key.Number)
}
