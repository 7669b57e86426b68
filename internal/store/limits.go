package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/auth"
)

// take counts one occurrence against every limit, or against none: it returns
// the limit that refuses for longest, and then what the others counted is given
// back. It is GCRA, in one statement for all rows: a row keeps its theoretical
// arrival time, which each occurrence moves on by Per/Max, and refuses once that
// would run further ahead of the clock than Max occurrences. The upsert locks the
// rows, so rivals on any replica count one after the other; callers name limits
// in one order throughout, so that two of them cannot wait for each other.
func (tx *tx) take(ctx context.Context, now time.Time, limits []auth.Limit) (*auth.Limited, error) {
	if len(limits) == 0 {
		return nil, nil
	}
	passed, err := tx.count(ctx, now, limits)
	if err != nil || len(passed) == len(limits) {
		return nil, err
	}
	var longest *auth.Limited
	for _, l := range limits {
		if passed[l.Key] {
			if err := tx.giveBack(ctx, l); err != nil {
				return nil, err
			}
			continue
		}
		var tat int64
		if err := tx.queryRow(ctx, `SELECT tat FROM limits WHERE key = $1`, l.Key).Scan(&tat); err != nil {
			return nil, fmt.Errorf("read limit %s: %w", l.Name, err)
		}
		wait := time.UnixMicro(tat).Add(-slack(l)).Sub(now)
		if longest == nil || wait > longest.Wait {
			longest = &auth.Limited{Name: l.Name, Wait: wait}
		}
	}
	return longest, nil
}

// count moves on every limit that lets one through and returns their keys.
func (tx *tx) count(ctx context.Context, now time.Time, limits []auth.Limit) (map[string]bool, error) {
	values := make([]string, len(limits))
	args := []any{now.UnixMicro()}
	for i, l := range limits {
		n := len(args)
		values[i] = fmt.Sprintf("($%d, CAST($%d AS BIGINT), CAST($%d AS BIGINT))", n+1, n+2, n+3)
		args = append(args, l.Key, now.Add(interval(l)).UnixMicro(), slack(l).Microseconds())
	}
	// excluded.tat - $1 is the interval.
	rs, err := tx.query(ctx, `
		INSERT INTO limits (key, tat, slack) VALUES `+strings.Join(values, ", ")+`
		ON CONFLICT (key) DO UPDATE SET
			tat = CASE WHEN limits.tat < $1 THEN excluded.tat ELSE limits.tat + excluded.tat - $1 END,
			slack = excluded.slack
		WHERE limits.tat <= $1 + excluded.slack
		RETURNING key`, args...)
	keys, err := collect(rs, err, func(s scanner) (key string, err error) { return key, s.Scan(&key) })
	if err != nil {
		return nil, fmt.Errorf("count limits: %w", err)
	}
	passed := make(map[string]bool, len(keys))
	for _, key := range keys {
		passed[key] = true
	}
	return passed, nil
}

func (tx *tx) giveBack(ctx context.Context, l auth.Limit) error {
	_, err := tx.exec(ctx, `UPDATE limits SET tat = tat - $2 WHERE key = $1`, l.Key, interval(l).Microseconds())
	return err
}

// interval is how far one occurrence moves a limit on.
func interval(l auth.Limit) time.Duration { return l.Per / time.Duration(l.Max) }

// slack is how far a limit may run ahead before it refuses: all but one interval.
func slack(l auth.Limit) time.Duration { return l.Per - interval(l) }
