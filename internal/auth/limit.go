package auth

import "time"

const (
	// maxShards is the most parts into which a limit is split.
	maxShards = 64
	// minShardMax is the least that a part of a split limit admits.
	minShardMax = 16
)

// Limit admits at most Max occurrences of Key in any window of length Per. The
// store counts them for all replicas.
//
// The window slides. With Max 3 and Per 1 h, and occurrences at 10:00, 10:10 and
// 10:50, the fourth is admitted at 11:00 and the fifth at 11:10.
//
// A large limit is split into shards, which count separately and whose maxima add up to
// Max. Requests of a shard wait for each other until they commit; those of different
// shards do not.
type Limit struct {
	// Name identifies the limit in the problem document.
	Name string
	Key  string
	Max  int
	Per  time.Duration
	// CheckOnly refuses like other limits, but does not count.
	CheckOnly bool
}

// Shards returns into how many shards the limit is split. They have the numbers from 0.
func (l Limit) Shards() int { return min(maxShards, max(1, l.Max/minShardMax)) }

// ShardMax returns how many occurrences a shard admits in a window.
func (l Limit) ShardMax(shard int) int {
	most := l.Max / l.Shards()
	if shard < l.Max%l.Shards() {
		most++
	}
	return max(1, most)
}

// Slot returns the slot that stores the nth occurrence of a shard, counted from 1. Slots
// are reused after ShardMax occurrences. Each slot belongs to one shard.
func (l Limit) Slot(shard int, n int64) int64 {
	return n%int64(l.ShardMax(shard))*int64(l.Shards()) + int64(shard)
}

// LimitExceeded is the error of a limit that refuses an occurrence, and how long
// until it admits the next.
type LimitExceeded struct {
	Name string
	Wait time.Duration
}

// Error implements error.
func (l LimitExceeded) Error() string { return "limit " + l.Name + " exceeded" }

// LongerWait returns whichever has the longer wait; nil waits for nothing.
func LongerWait(a, b *LimitExceeded) *LimitExceeded {
	if a == nil || b != nil && b.Wait > a.Wait {
		return b
	}
	return a
}
