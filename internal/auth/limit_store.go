package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// CountOccurrence counts one occurrence against each of the limits, in one round trip. If a limit
// refuses, it returns the one with the longest wait, and the caller must roll back.
//
// The rows that count are locked until the commit, so concurrent requests count one after the
// other. The caller names limits in a fixed order, so that transactions cannot deadlock.
func CountOccurrence(ctx context.Context, tx *store.Tx, now time.Time, limits []Limit) (*LimitExceeded, error) {
	if len(limits) == 0 {
		return nil, nil
	}
	var each, totals []Limit
	for _, l := range limits {
		if l.countedByMinute() {
			totals = append(totals, l)
		} else {
			each = append(each, l)
		}
	}
	waits := make(map[string]time.Duration, len(limits)) // by key
	err := countEach(ctx, tx, now, each, waits)
	if err == nil {
		err = countByMinute(ctx, tx, now, totals, waits)
	}
	if err == nil {
		err = tx.Flush()
	}
	if err != nil {
		return nil, fmt.Errorf("count limits: %w", err)
	}
	var exceeded *LimitExceeded
	for _, l := range limits {
		if wait := waits[l.Key]; wait > 0 {
			exceeded = LongerWait(exceeded, &LimitExceeded{Name: l.Name, Wait: wait})
		}
	}
	return exceeded, nil
}

// countEach numbers the occurrence in the row of each limit and saves its time. It reads the time
// of the occurrence Max before, which must have left the window.
func countEach(ctx context.Context, tx *store.Tx, now time.Time, limits []Limit, waits map[string]time.Duration) error {
	if len(limits) == 0 {
		return nil
	}
	var all []any
	var counted, before [][]any
	byKey := make(map[string]Limit, len(limits))
	for _, l := range limits {
		occurrences, endsAt := 1, deletableAt(now.Add(l.Per))
		if l.CheckOnly {
			occurrences = 0
		} else {
			counted = append(counted, []any{l.Key, database.Micros(now), endsAt})
		}
		all = append(all, l.Key, occurrences, endsAt)
		before = append(before, []any{l.Key, l.Max - 1 + occurrences})
		byKey[l.Key] = l
	}
	err := tx.Defer(ctx, `
		INSERT INTO limits (key, occurrences, ends_at) VALUES `+database.RowsOf(len(limits), 3)+`
		ON CONFLICT (key) DO UPDATE SET occurrences = limits.occurrences + excluded.occurrences, ends_at = excluded.ends_at`, all...)
	if err == nil && len(counted) > 0 {
		table, args := database.ValuesTable(counted, "TEXT", "BIGINT", "BIGINT")
		// A row with this number is left if an operator has deleted the row of the limit.
		err = tx.Defer(ctx, `
			INSERT INTO limit_occurrences (key, number, at, ends_at)
			SELECT v.column1, (SELECT l.occurrences FROM limits l WHERE l.key = v.column1), v.column2, v.column3
			FROM `+table+` v WHERE v.column1 IS NOT NULL
			ON CONFLICT (key, number) DO UPDATE SET at = excluded.at, ends_at = excluded.ends_at`, args...)
	}
	if err != nil {
		return err
	}
	// Subqueries use the primary keys even while PostgreSQL has no statistics of the tables.
	table, args := database.ValuesTable(before, "TEXT", "BIGINT")
	return tx.DeferRows(ctx, func(row database.Scanner) error {
		var key string
		var at time.Time
		err := row.Scan(&key, database.IntoTime(&at))
		waits[key] = byKey[key].wait(now, at)
		return err
	}, `
		SELECT v.column1, (
			SELECT o.at FROM limit_occurrences o
			WHERE o.key = v.column1 AND o.number = (SELECT l.occurrences FROM limits l WHERE l.key = v.column1) - v.column2)
		FROM `+table+` v WHERE v.column1 IS NOT NULL`, args...)
}

// countByMinute counts the occurrence in one of the counters of this minute and reads the sum of
// all minutes of the window. Requests take the counters in turn, also if a lock timeout repeats one.
func countByMinute(ctx context.Context, tx *store.Tx, now time.Time, totals []Limit, waits map[string]time.Duration) error {
	if len(totals) == 0 {
		return nil
	}
	shard := int(tx.DB().CountRequest() % MinuteShards)
	for _, l := range totals {
		next := int64(1)
		if !l.CheckOnly {
			next = 0
			err := tx.Defer(ctx, `
				INSERT INTO limit_minutes (key, minute, shard, occurrences, ends_at) VALUES ($1, $2, $3, 1, $4)
				ON CONFLICT (key, minute, shard) DO UPDATE SET occurrences = limit_minutes.occurrences + 1`,
				l.Key, database.Micros(now.Truncate(time.Minute)), shard, deletableAt(now.Add(l.Per)))
			if err != nil {
				return err
			}
		}
		err := tx.DeferRow(ctx, func(row database.Scanner) error {
			var sum int64
			var oldest time.Time
			err := row.Scan(&sum, database.IntoTime(&oldest))
			waits[l.Key] = l.waitByMinute(now, sum+next, oldest)
			return err
		}, `
			SELECT CAST(COALESCE(sum(occurrences), 0) AS BIGINT), min(minute) FROM limit_minutes
			WHERE key = $1 AND minute > $2 AND minute <= $3`,
			l.Key, database.Micros(now.Add(-l.Per-time.Minute)), database.Micros(now.Add(MaxClockSkew)))
		if err != nil {
			return err
		}
	}
	return nil
}

// deletableAt is when Sweep may delete a row that is not needed after t. It changes once a
// minute only: PostgreSQL makes a heap-only (HOT) update if no indexed column changes.
func deletableAt(t time.Time) int64 {
	return t.Truncate(time.Minute).Add(time.Minute).UnixMicro()
}
