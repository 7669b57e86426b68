package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/database"
)

// countLimits counts one occurrence against every limit. If a limit refuses, it counts
// none and returns the limit with the longest wait.
//
// Occurrences of a limit are numbered, and auth.Limit says which slot stores the nth.
// A slot is free once its occurrence has left the window. The first statement locks
// the rows of all limits, so that concurrent requests count one after the other. The
// caller names limits in a fixed order, so that transactions cannot deadlock.
func (tx *tx) countLimits(ctx context.Context, now time.Time, limits []auth.Limit) (*auth.LimitExceeded, error) {
	if len(limits) == 0 {
		return nil, nil
	}
	numbers, err := tx.incrementLimits(ctx, now, limits)
	if err != nil {
		return nil, fmt.Errorf("increment limits: %w", err)
	}
	exceeded, err := tx.variableLimitExceeded(ctx, now, limits, numbers)
	if err != nil {
		return nil, err
	}
	var taken map[string]bool
	if exceeded == nil {
		if taken, err = tx.takeSlots(ctx, now, limits, numbers); err != nil || len(taken) == len(limits) {
			return nil, err
		}
	}
	for _, l := range limits {
		if !l.CheckOnly {
			if err := tx.decrementLimit(ctx, l, numbers[l.Key], taken[l.Key]); err != nil {
				return nil, fmt.Errorf("decrement limit %s: %w", l.Name, err)
			}
		}
		if taken[l.Key] || l.VariableMax {
			continue
		}
		this, err := tx.limitExceeded(ctx, now, l, numbers[l.Key])
		if err != nil {
			return nil, err
		}
		exceeded = auth.LongerWait(exceeded, this)
	}
	return exceeded, nil
}

// incrementLimits returns the number of this occurrence by the key of each limit.
func (tx *tx) incrementLimits(ctx context.Context, now time.Time, limits []auth.Limit) (map[string]int64, error) {
	var args []any
	for _, l := range limits {
		counted := 1
		if l.CheckOnly {
			counted = 0
		}
		args = append(args, l.Key, counted, deletableAt(now.Add(l.Per)))
	}
	rs, err := tx.Query(ctx, `
		INSERT INTO limits (key, occurrences, ends_at) VALUES `+rowsOf(len(limits), 3)+`
		ON CONFLICT (key) DO UPDATE SET occurrences = limits.occurrences + excluded.occurrences, ends_at = excluded.ends_at
		RETURNING key, occurrences`, args...)
	numbers := make(map[string]int64, len(limits))
	_, err = database.Collect(rs, err, func(s database.Scanner) (n int64, err error) {
		var key string
		err = s.Scan(&key, &n)
		numbers[key] = n
		return n, err
	})
	for _, l := range limits {
		if l.CheckOnly {
			numbers[l.Key]++ // the number that this occurrence would have
		}
	}
	return numbers, err
}

// deletableAt is when Sweep may delete a row that is not needed after t. It changes once a
// minute only: PostgreSQL makes a heap-only (HOT) update if no indexed column changes.
func deletableAt(t time.Time) int64 {
	return t.Truncate(time.Minute).Add(time.Minute).UnixMicro()
}

// variableLimitExceeded returns the limit with VariableMax that refuses for longest,
// or nil. Their slots are never reused, so takeSlots does not check them.
func (tx *tx) variableLimitExceeded(ctx context.Context, now time.Time, limits []auth.Limit, numbers map[string]int64) (exceeded *auth.LimitExceeded, err error) {
	for _, l := range limits {
		if !l.VariableMax {
			continue
		}
		this, err := tx.limitExceeded(ctx, now, l, numbers[l.Key])
		if err != nil {
			return nil, err
		}
		exceeded = auth.LongerWait(exceeded, this)
	}
	return exceeded, nil
}

// limitExceeded returns how long l refuses its nth occurrence, or nil.
func (tx *tx) limitExceeded(ctx context.Context, now time.Time, l auth.Limit, n int64) (*auth.LimitExceeded, error) {
	slot, ok := l.BlockingSlot(n)
	if !ok {
		return nil, nil
	}
	var freeAt time.Time
	err := tx.QueryRow(ctx, `SELECT free_at FROM limit_slots WHERE key = $1 AND slot = $2 AND free_at > $3`, l.Key, slot, micros(now)).Scan(intoTime(&freeAt))
	if isNone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read limit %s: %w", l.Name, err)
	}
	return &auth.LimitExceeded{Name: l.Name, Wait: freeAt.Sub(now)}, nil
}

// takeSlots takes the slot of each limit that is free, and returns their keys. The slot
// of a limit with CheckOnly stays free.
func (tx *tx) takeSlots(ctx context.Context, now time.Time, limits []auth.Limit, numbers map[string]int64) (map[string]bool, error) {
	var args []any
	for _, l := range limits {
		freeAt := micros(now.Add(l.Per))
		if l.CheckOnly {
			freeAt = 0
		}
		args = append(args, l.Key, l.Slot(numbers[l.Key]), freeAt)
	}
	rs, err := tx.Query(ctx, fmt.Sprintf(`
		INSERT INTO limit_slots (key, slot, free_at) VALUES %s
		ON CONFLICT (key, slot) DO UPDATE SET free_at = excluded.free_at
		WHERE limit_slots.free_at <= $%d
		RETURNING key`, rowsOf(len(limits), 3), len(args)+1), append(args, micros(now))...)
	keys, err := database.Collect(rs, err, func(s database.Scanner) (key string, err error) { return key, s.Scan(&key) })
	if err != nil {
		return nil, fmt.Errorf("take limit slots: %w", err)
	}
	taken := make(map[string]bool, len(keys))
	for _, key := range keys {
		taken[key] = true
	}
	return taken, nil
}

// decrementLimit takes back the nth occurrence and, if it took its slot, frees that.
func (tx *tx) decrementLimit(ctx context.Context, l auth.Limit, n int64, taken bool) error {
	err := tx.Defer(ctx, `UPDATE limits SET occurrences = occurrences - 1 WHERE key = $1`, l.Key)
	if err == nil && taken {
		err = tx.Defer(ctx, `UPDATE limit_slots SET free_at = 0 WHERE key = $1 AND slot = $2`, l.Key, l.Slot(n))
	}
	return err
}
