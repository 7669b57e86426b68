package auth

import "time"

// MaxClockSkew is how far the clocks of replicas may differ. A stored time that is later than
// that was stored by a clock that was ahead and is right now. It is ignored: after a jump of two
// days a number would otherwise get no OTP for two days.
const MaxClockSkew = 5 * time.Minute

const (
	// MinuteShards is how many counters a minute of a total has. Requests that use different ones
	// do not wait for each other.
	MinuteShards = 4
	// minuteMargin is how many occurrences below its Max a total refuses. A request does not see
	// the others in progress: at most one for each counter, twice as many when a minute begins.
	minuteMargin = 2 * MinuteShards
	// minByMinute is the least Max of a total that is counted by the minute.
	minByMinute = 256
)

// Limit admits at most Max occurrences of Key in any window of length Per. The
// database counts them for all replicas.
//
// The window slides: with Max 3 and Per 1 h, and occurrences at 10:00, 10:10 and 10:50, the
// fourth is admitted at 11:00 and the fifth at 11:10.
type Limit struct {
	// Name identifies the limit in the problem document.
	Name string
	Key  string
	Max  int
	Per  time.Duration
	// CheckOnly refuses like other limits, but does not count.
	CheckOnly bool
	// Total is true if requests of all callers share the limit. With a Max of 256 or more it is
	// counted by the minute, because on PostgreSQL all sign-ins would wait for one row: it admits
	// at least Max - 8, and whole minutes leave the window.
	Total bool
}

func (l Limit) countedByMinute() bool { return l.Total && l.Max >= minByMinute }

// waitByMinute returns how long a total refuses the last of n occurrences. oldest is the first
// minute of the window.
func (l Limit) waitByMinute(now time.Time, n int64, oldest time.Time) time.Duration {
	if n <= int64(l.Max-minuteMargin) {
		return 0
	}
	return oldest.Add(time.Minute + l.Per).Sub(now)
}

// wait returns how long the limit refuses an occurrence at now. at is when the one Max before it
// was, or zero. A time beyond MaxClockSkew after now does not count.
func (l Limit) wait(now, at time.Time) time.Duration {
	if at.IsZero() || at.After(now.Add(MaxClockSkew)) {
		return 0
	}
	return max(0, at.Add(l.Per).Sub(now))
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
