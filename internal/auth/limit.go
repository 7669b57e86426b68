package auth

import "time"

const (
	// maxShards is the most parts into which a limit is split.
	maxShards = 64
	// minShardMax is the least that a part of a split limit admits.
	minShardMax = 16
	// maxStamps is the most occurrences in a window of a shard whose times are all saved.
	maxStamps = 64
)

// MaxClockSkew is how far the clocks of replicas may differ. A stored time that is later than
// that was stored by a clock that was ahead and is right now. It is ignored: after a jump of two
// days a number would otherwise get no OTP for two days.
const MaxClockSkew = 5 * time.Minute

// Limit admits at most Max occurrences of Key in any window of length Per. The
// store counts them for all replicas.
//
// The window slides: with Max 3 and Per 1 h, and occurrences at 10:00, 10:10 and 10:50, the
// fourth is admitted at 11:00 and the fifth at 11:10. It is exact up to a Max of 4,096. A
// larger limit may refuse up to 1/64 of Max early, because only some of the times are saved.
//
// A large limit is split into shards, which count separately and whose maxima add up to
// Max. Requests of a shard wait for each other until they commit; requests of different
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

// StampEvery returns which occurrences of a shard have a saved time: those whose number is
// a multiple of it. It is 1 unless the shard admits more than maxStamps in a window.
func (l Limit) StampEvery(shard int) int { return (l.ShardMax(shard) + maxStamps - 1) / maxStamps }

// StampsKept returns how many of these times must be saved.
func (l Limit) StampsKept(shard int) int { return l.ShardMax(shard)/l.StampEvery(shard) + 2 }

// FreeAt returns when a shard admits its nth occurrence, counted from 1. stamps are the saved
// times of the occurrences before it, newest first. The occurrence ShardMax before it must
// have left the window; if that has no saved time, the next later one that has:
//
//	ShardMax 128, a time for each second occurrence: 140 needs the time of 12,
//	and 141 (which needs 13) takes the place of 14
//
// So a window never has more than Max occurrences. Times beyond MaxClockSkew after now do not count.
func (l Limit) FreeAt(now time.Time, shard int, n int64, stamps []time.Time) time.Time {
	every := int64(l.StampEvery(shard))
	earlier := n - int64(l.ShardMax(shard))
	if earlier <= 0 {
		return time.Time{}
	}
	newest, needed := (n-1)/every, (earlier+every-1)/every
	i := max(0, newest-needed)
	if i >= int64(len(stamps)) || stamps[i].After(now.Add(MaxClockSkew)) {
		return time.Time{}
	}
	return stamps[i].Add(l.Per)
}

// LimitExceeded is the error of a limit that refuses an occurrence, and how long
// until it admits the next.
type LimitExceeded struct {
	Name string
	Wait time.Duration
}

// Error implements error.
func (l LimitExceeded) Error() string { return "limit " + l.Name + " exceeded" }

// LongerWait returns the one with the longer wait; nil waits for nothing.
func LongerWait(a, b *LimitExceeded) *LimitExceeded {
	if a == nil || b != nil && b.Wait > a.Wait {
		return b
	}
	return a
}
