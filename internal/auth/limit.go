package auth

import "time"

// Limit admits at most Max occurrences of Key in any window of length Per. The
// store counts them for all replicas.
//
// The window slides. With Max 3 and Per 1 h, and occurrences at 10:00, 10:10 and
// 10:50, the fourth is admitted at 11:00 and the fifth at 11:10.
type Limit struct {
	// Name identifies the limit in the problem document.
	Name string
	Key  string
	Max  int
	Per  time.Duration
	// VariableMax allows a different Max for each occurrence; 0 then means no limit.
	VariableMax bool
	// CheckOnly refuses like other limits, but does not count. It cannot be combined
	// with VariableMax.
	CheckOnly bool
}

// Slot returns the slot that stores the nth occurrence, counted from 1. Slots are
// reused after Max occurrences, unless Max varies.
func (l Limit) Slot(n int64) int64 {
	if l.VariableMax {
		return n
	}
	return n % int64(max(1, l.Max))
}

// BlockingSlot returns the slot of the occurrence Max before the nth, which must
// leave the window before the nth is admitted. It returns false if there is none.
func (l Limit) BlockingSlot(n int64) (int64, bool) {
	if !l.VariableMax {
		return l.Slot(n), true // the nth reuses it
	}
	return n - int64(l.Max), l.Max > 0 && n > int64(l.Max)
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
