package store

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/database"
)

// limitCounter counts one occurrence against some limits. It belongs to one call of
// DB.write and remembers between the attempts which shards to use.
type limitCounter struct {
	db *DB
	// next is the shard of this attempt, modulo the shards of the limit.
	next uint64
	// free are the shards that had a free slot when an earlier attempt looked, by key.
	free map[string]int
}

// newLimitCounter returns a counter for one call of DB.write.
func (db *DB) newLimitCounter() *limitCounter {
	return &limitCounter{db: db, free: make(map[string]int)}
}

// shard returns the shard of l that this attempt uses.
func (c *limitCounter) shard(l auth.Limit) int {
	if shard, ok := c.free[l.Key]; ok {
		return shard
	}
	return int(c.next % uint64(l.Shards()))
}

// count counts the occurrence. If a limit refuses, it returns the one with the longest
// wait, and the caller must roll back.
//
// The occurrences of a shard are numbered, and auth.Limit says which slot stores the nth.
// A slot is free once its occurrence has left the window. The first statement locks one
// row of each limit, so that concurrent requests of a shard count one after the other. The
// caller names limits in a fixed order, so that transactions cannot deadlock.
//
// Requests take the shards in turn, so those of one process rarely meet. If the shard of
// this attempt is full and another is not, count fails with database.ErrStale, and the next
// attempt uses the other: a transaction never locks two shards of a limit. If another
// replica keeps a shard locked, the lock timeout fails the attempt, and the next one uses
// the following shard.
func (c *limitCounter) count(ctx context.Context, tx *tx, now time.Time, limits []auth.Limit) (*auth.LimitExceeded, error) {
	if len(limits) == 0 {
		return nil, nil
	}
	c.next = c.db.shards.Add(1)
	if err := c.increment(ctx, tx, now, limits); err != nil {
		return nil, fmt.Errorf("increment limits: %w", err)
	}
	taken, err := c.takeSlots(ctx, tx, now, limits)
	if err != nil {
		return nil, fmt.Errorf("take limit slots: %w", err)
	}
	var exceeded *auth.LimitExceeded
	elsewhere := false
	for _, l := range limits {
		if taken[l.Key] {
			continue
		}
		shard, wait, err := c.findFree(ctx, tx, now, l)
		if err != nil {
			return nil, fmt.Errorf("read limit %s: %w", l.Name, err)
		}
		if wait > 0 {
			exceeded = auth.LongerWait(exceeded, &auth.LimitExceeded{Name: l.Name, Wait: wait})
			continue
		}
		c.free[l.Key], elsewhere = shard, true
	}
	if exceeded == nil && elsewhere {
		return nil, database.ErrStale
	}
	return exceeded, nil
}

// increment numbers the occurrence in a shard of each limit.
func (c *limitCounter) increment(ctx context.Context, tx *tx, now time.Time, limits []auth.Limit) error {
	var args []any
	for _, l := range limits {
		args = append(args, l.Key, c.shard(l), counted(l), deletableAt(now.Add(l.Per)))
	}
	return tx.Defer(ctx, `
		INSERT INTO limits (key, shard, occurrences, ends_at) VALUES `+rowsOf(len(limits), 4)+`
		ON CONFLICT (key, shard) DO UPDATE SET occurrences = limits.occurrences + excluded.occurrences, ends_at = excluded.ends_at`, args...)
}

// counted is how many occurrences of l a request counts.
func counted(l auth.Limit) int {
	if l.CheckOnly {
		return 0
	}
	return 1
}

// deletableAt is when Sweep may delete a row that is not needed after t. It changes once a
// minute only: PostgreSQL makes a heap-only (HOT) update if no indexed column changes.
func deletableAt(t time.Time) int64 {
	return t.Truncate(time.Minute).Add(time.Minute).UnixMicro()
}

// takeSlots takes the slot of each limit that is free, and returns their keys. The slot
// of a limit with CheckOnly stays free.
func (c *limitCounter) takeSlots(ctx context.Context, tx *tx, now time.Time, limits []auth.Limit) (map[string]bool, error) {
	var rows [][]any
	for _, l := range limits {
		freeAt := micros(now.Add(l.Per))
		if l.CheckOnly {
			freeAt = 0
		}
		shard := c.shard(l)
		rows = append(rows, []any{l.Key, shard, l.ShardMax(shard), l.Shards(), 1 - counted(l), freeAt})
	}
	values, args := valuesTable(rows, "TEXT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT")
	// The expression is that of auth.Limit.Slot.
	rs, err := tx.Query(ctx, `
		INSERT INTO limit_slots (key, slot, free_at)
		SELECT l.key, (l.occurrences + v.column5) % v.column3 * v.column4 + l.shard, v.column6
		FROM `+values+` v JOIN limits l ON l.key = v.column1 AND l.shard = v.column2 WHERE TRUE
		ON CONFLICT (key, slot) DO UPDATE SET free_at = excluded.free_at
		WHERE limit_slots.free_at <= `+params(len(args)+1, 1)+`
		RETURNING key`, append(args, micros(now))...)
	keys, err := database.Collect(rs, err, func(s database.Scanner) (key string, err error) { return key, s.Scan(&key) })
	if err != nil {
		return nil, err
	}
	taken := make(map[string]bool, len(keys))
	for _, key := range keys {
		taken[key] = true
	}
	return taken, nil
}

// findFree returns a shard of l that has a free slot, or how long until one has. The shard
// of this attempt has none.
func (c *limitCounter) findFree(ctx context.Context, tx *tx, now time.Time, l auth.Limit) (free int, wait time.Duration, err error) {
	own, shards := c.shard(l), l.Shards()
	freeAt := make([]time.Time, shards)
	rs, err := tx.Query(ctx, `
		SELECT l.shard, coalesce(s.free_at, 0) FROM limits l
		LEFT JOIN limit_slots s ON s.key = l.key AND s.slot =
			(l.occurrences + CASE WHEN l.shard = $2 THEN $3 ELSE 1 END) % (CASE WHEN l.shard < $4 THEN $5 + 1 ELSE $5 END) * $6 + l.shard
		WHERE l.key = $1 AND l.shard < $6`,
		l.Key, own, 1-counted(l), l.Max%shards, l.Max/shards, shards)
	_, err = database.Collect(rs, err, func(s database.Scanner) (at time.Time, err error) {
		var shard int
		if err = s.Scan(&shard, intoTime(&at)); err == nil {
			freeAt[shard] = at
		}
		return at, err
	})
	if err != nil {
		return 0, 0, err
	}
	wait = freeAt[own].Sub(now)
	for shard, at := range freeAt {
		if !at.After(now) {
			return shard, 0, nil
		}
		wait = min(wait, at.Sub(now))
	}
	return 0, wait, nil
}
