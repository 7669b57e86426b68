package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/database"
)

// take counts one occurrence against every limit, or against none: it returns
// the limit that refuses for longest, and then nothing has been counted.
//
// A limit holds exactly: in no window of its length are there more than Max
// occurrences. Each is numbered, and number n takes the slot n modulo Max; the
// one that had the slot before it is Max occurrences back, and must have left the
// window. A numbered limit, whose Max may change, gives each occurrence a slot of
// its own and looks for the one Max back by its number. Two statements do it for all limits together. The first locks the rows
// of the limits, so rivals on any replica count one after the other; callers name
// limits in one order throughout, so that two of them cannot wait for each other.
func (tx *tx) take(ctx context.Context, now time.Time, limits []auth.Limit) (*auth.Limited, error) {
	if len(limits) == 0 {
		return nil, nil
	}
	slots, err := tx.number(ctx, now, limits)
	if err != nil {
		return nil, fmt.Errorf("number limits: %w", err)
	}
	longest, err := tx.behind(ctx, now, limits, slots)
	if err != nil {
		return nil, err
	}
	var free map[string]bool
	if longest == nil {
		if free, err = tx.occupy(ctx, now, limits, slots); err != nil || len(free) == len(limits) {
			return nil, err
		}
	}
	for _, l := range limits {
		if err := tx.giveBack(ctx, l, slots[l.Key], free[l.Key]); err != nil {
			return nil, fmt.Errorf("give back limit %s: %w", l.Name, err)
		}
		if free[l.Key] || l.Numbered {
			continue
		}
		if err := tx.waitFor(ctx, now, l, slots[l.Key], &longest); err != nil {
			return nil, err
		}
	}
	return longest, nil
}

// number gives the occurrence its number in each limit and returns the slots.
func (tx *tx) number(ctx context.Context, now time.Time, limits []auth.Limit) (map[string]int64, error) {
	var args []any
	turn := make(map[string]int64, len(limits)) // 0 where every number has a slot of its own
	for _, l := range limits {
		args = append(args, l.Key, 1, micros(now.Add(l.Per)))
		if !l.Numbered {
			turn[l.Key] = int64(max(1, l.Max))
		}
	}
	rs, err := tx.Query(ctx, `
		INSERT INTO limits (key, occurrences, ends_at) VALUES `+rowsOf(len(limits), 3)+`
		ON CONFLICT (key) DO UPDATE SET occurrences = limits.occurrences + 1, ends_at = excluded.ends_at
		RETURNING key, occurrences`, args...)
	slots := make(map[string]int64, len(limits))
	_, err = database.Collect(rs, err, func(s database.Scanner) (key string, err error) {
		var n int64
		err = s.Scan(&key, &n)
		if slots[key] = n; turn[key] > 0 {
			slots[key] = n % turn[key]
		}
		return key, err
	})
	return slots, err
}

// behind returns the numbered limit whose occurrence Max back is still within its
// window, the longest of them, or nil.
func (tx *tx) behind(ctx context.Context, now time.Time, limits []auth.Limit, slots map[string]int64) (longest *auth.Limited, err error) {
	for _, l := range limits {
		n := slots[l.Key] - int64(l.Max)
		if !l.Numbered || l.Max == 0 || n < 1 {
			continue
		}
		if err := tx.waitFor(ctx, now, l, n, &longest); err != nil {
			return nil, err
		}
	}
	return longest, nil
}

// waitFor makes l the longest where the occurrence in its slot is within the
// window for longer still.
func (tx *tx) waitFor(ctx context.Context, now time.Time, l auth.Limit, slot int64, longest **auth.Limited) error {
	var freeAt time.Time
	err := tx.QueryRow(ctx, `SELECT free_at FROM limit_slots WHERE key = $1 AND slot = $2 AND free_at > $3`, l.Key, slot, micros(now)).Scan(intoTime(&freeAt))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read limit %s: %w", l.Name, err)
	}
	if wait := freeAt.Sub(now); *longest == nil || wait > (*longest).Wait {
		*longest = &auth.Limited{Name: l.Name, Wait: wait}
	}
	return nil
}

// occupy takes the slots that are free and returns whose they are.
func (tx *tx) occupy(ctx context.Context, now time.Time, limits []auth.Limit, slots map[string]int64) (map[string]bool, error) {
	var args []any
	for _, l := range limits {
		args = append(args, l.Key, slots[l.Key], micros(now.Add(l.Per)))
	}
	rs, err := tx.Query(ctx, fmt.Sprintf(`
		INSERT INTO limit_slots (key, slot, free_at) VALUES %s
		ON CONFLICT (key, slot) DO UPDATE SET free_at = excluded.free_at
		WHERE limit_slots.free_at <= $%d
		RETURNING key`, rowsOf(len(limits), 3), len(args)+1), append(args, micros(now))...)
	keys, err := database.Collect(rs, err, func(s database.Scanner) (key string, err error) { return key, s.Scan(&key) })
	if err != nil {
		return nil, fmt.Errorf("count limits: %w", err)
	}
	free := make(map[string]bool, len(keys))
	for _, key := range keys {
		free[key] = true
	}
	return free, nil
}

// giveBack takes the number back and, where one was taken, frees the slot.
func (tx *tx) giveBack(ctx context.Context, l auth.Limit, slot int64, taken bool) error {
	err := tx.Defer(ctx, `UPDATE limits SET occurrences = occurrences - 1 WHERE key = $1`, l.Key)
	if err == nil && taken {
		err = tx.Defer(ctx, `UPDATE limit_slots SET free_at = 0 WHERE key = $1 AND slot = $2`, l.Key, slot)
	}
	return err
}
