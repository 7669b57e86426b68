package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
)

// LimitCounter counts one occurrence against some limits. It belongs to one call of
// DB.write and remembers between the attempts which shards to use.
type LimitCounter struct {
	db *store.DB
	// next is the shard of this attempt, modulo the shards of the limit.
	next uint64
	// free are the shards that had a free slot when an earlier attempt looked, by key.
	free map[string]int
	// failures is the number of attempts that could not lock their shards.
	failures int
}

// NewLimitCounter returns a counter for one call of DB.Write.
func NewLimitCounter(db *store.DB) *LimitCounter {
	return &LimitCounter{db: db, free: make(map[string]int)}
}

// shard returns the shard of l that this attempt uses.
func (c *LimitCounter) shard(l Limit) int {
	if shard, ok := c.free[l.Key]; ok {
		return shard
	}
	return int(c.next % uint64(l.Shards()))
}

// Count counts the occurrence. If a limit refuses, it returns the one with the longest
// wait, and the caller must roll back.
//
// One statement numbers the occurrence in a shard of each limit, and returns the times of
// the ones before it; Limit.FreeAt says whether it is admitted. The statement locks the
// rows until the commit, so that concurrent requests of a shard count one after the other.
// The caller names limits in a fixed order, so that transactions cannot deadlock.
//
// Requests take the shards in turn, so two of one process rarely meet. If the shard of
// this attempt is full and another is not, count fails with database.ErrStale, and the next
// attempt uses the other: a transaction never locks two shards of a limit. If another
// replica keeps a shard locked, the lock timeout fails the attempt, and the next one uses
// the following shard. If that is full, too, it looks for another free shard.
func (c *LimitCounter) Count(ctx context.Context, tx *store.Tx, now time.Time, limits []Limit) (*LimitExceeded, error) {
	if len(limits) == 0 {
		return nil, nil
	}
	c.next = c.db.CountRequest()
	shards, err := c.increment(ctx, tx, now, limits)
	if err != nil {
		c.failures++
		clear(c.free)
		return nil, fmt.Errorf("increment limits: %w", err)
	}
	var exceeded *LimitExceeded
	elsewhere := false
	for _, l := range limits {
		own := shards[l.Key]
		freeAt := own.next(now, l)
		if !l.CheckOnly {
			freeAt = own.current(now, l)
		}
		if !freeAt.After(now) {
			continue
		}
		shard, freeAt, err := c.findFree(ctx, tx, now, l, own.number, freeAt)
		if err != nil {
			return nil, fmt.Errorf("read limit %s: %w", l.Name, err)
		}
		if wait := freeAt.Sub(now); wait > 0 {
			exceeded = LongerWait(exceeded, &LimitExceeded{Name: l.Name, Wait: wait})
			continue
		}
		c.free[l.Key], elsewhere = shard, true
	}
	if exceeded == nil && elsewhere {
		return nil, database.ErrStale
	}
	return exceeded, nil
}

// limitShard is a row of limits.
type limitShard struct {
	number      int
	occurrences int64
	stamps      []time.Time
}

// next returns when the next occurrence is admitted.
func (s limitShard) next(now time.Time, l Limit) time.Time {
	return l.FreeAt(now, s.number, s.occurrences+1, s.stamps)
}

// current returns when the newest occurrence, which the row counts already, is admitted.
func (s limitShard) current(now time.Time, l Limit) time.Time {
	stamps := s.stamps
	if s.occurrences%int64(l.StampEvery(s.number)) == 0 {
		stamps = stamps[1:] // without its own
	}
	return l.FreeAt(now, s.number, s.occurrences, stamps)
}

// increment numbers the occurrence in a shard of each limit and returns the shards by key.
// It changes no shard of a limit with CheckOnly.
func (c *LimitCounter) increment(ctx context.Context, tx *store.Tx, now time.Time, limits []Limit) (map[string]limitShard, error) {
	var args []any
	for _, l := range limits {
		shard, occurrences, stamp := c.shard(l), 1, timestamp(now)
		if l.CheckOnly {
			occurrences, stamp = 0, ""
		}
		args = append(args, l.Key, shard, occurrences, stamp, l.StampEvery(shard), l.StampsKept(shard)*timestampDigits, deletableAt(now.Add(l.Per)))
	}
	shards := make(map[string]limitShard, len(limits))
	rs, err := tx.Query(ctx, `
		INSERT INTO limits (key, shard, occurrences, times, every, kept, ends_at) VALUES `+database.RowsOf(len(limits), 7)+`
		ON CONFLICT (key, shard) DO UPDATE SET
			times = CASE WHEN (limits.occurrences + excluded.occurrences) % excluded.every = 0
				THEN substr(excluded.times || limits.times, 1, excluded.kept) ELSE limits.times END,
			occurrences = limits.occurrences + excluded.occurrences,
			every = excluded.every, kept = excluded.kept, ends_at = excluded.ends_at
		RETURNING key, shard, occurrences, times`, args...)
	_, err = database.Collect(rs, err, func(s database.Scanner) (key string, err error) {
		var shard limitShard
		if err = s.Scan(&key, &shard.number, &shard.occurrences, intoTimestamps(&shard.stamps)); err == nil {
			shards[key] = shard
		}
		return key, err
	})
	return shards, err
}

// deletableAt is when Sweep may delete a row that is not needed after t. It changes once a
// minute only: PostgreSQL makes a heap-only (HOT) update if no indexed column changes.
func deletableAt(t time.Time) int64 {
	return t.Truncate(time.Minute).Add(time.Minute).UnixMicro()
}

// findFree returns a shard of l that admits the next occurrence, and when. The own shard
// does at freeAt; if no other does earlier, it returns own. After each lock timeout it chooses
// another of the shards that admit one now, because the one before may still be locked.
func (c *LimitCounter) findFree(ctx context.Context, tx *store.Tx, now time.Time, l Limit, own int, freeAt time.Time) (int, time.Time, error) {
	shards := l.Shards()
	rs, err := tx.Query(ctx, `SELECT shard, occurrences, times FROM limits WHERE key = $1 AND shard < $2`, l.Key, shards)
	rows, err := database.Collect(rs, err, func(s database.Scanner) (row limitShard, err error) {
		return row, s.Scan(&row.number, &row.occurrences, intoTimestamps(&row.stamps))
	})
	if err != nil {
		return 0, time.Time{}, err
	}
	free := make([]time.Time, shards) // a shard without a row is free
	for _, row := range rows {
		free[row.number] = row.next(now, l)
	}
	free[own] = freeAt
	earliest := own
	var open []int
	for shard, at := range free {
		if at.Before(free[earliest]) {
			earliest = shard
		}
		if !at.After(now) {
			open = append(open, shard)
		}
	}
	if len(open) > 0 {
		earliest = open[c.failures%len(open)]
	}
	return earliest, free[earliest], nil
}
