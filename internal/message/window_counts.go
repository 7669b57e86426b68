package message

import "time"

// heldBehind is how long a message waits behind an older one for the same limit, unless the
// older one leaves or the limit is checked again earlier.
const heldBehind = 24 * time.Hour

// Window names the window of a counter.
type Window struct {
	Counter string
	Length  time.Duration
}

// Windows holds the sums of the counters of some messages, by window.
type Windows map[Window]WindowCount

// WindowOf returns the window that l limits.
func WindowOf(l Limit) Window { return Window{l.Counter, l.Window} }

// Add counts a message with these limits.
func (w Windows) Add(limits []Limit, now time.Time) {
	added := make(map[Window]bool)
	for _, l := range limits {
		window := WindowOf(l)
		if added[window] {
			continue // two limits of one counter
		}
		added[window] = true
		count := w[window]
		if count.Size == 0 {
			count.Oldest = now
		}
		count.Size += l.Size
		w[window] = count
	}
}

// Admission says what happens to a message.
type Admission struct {
	// Key is the limit that the message has to wait for, for the given time, or "" if it may
	// leave.
	Key  string
	Wait time.Duration
	// Drop ends the message instead: an OTP does not wait.
	Drop bool
}

// Admit decides about a message with these limits and counts it if it may leave. oldest has
// the id of the oldest message that waits for each limit; Admit adds this one if it waits.
func (w Windows) Admit(id string, isOTP bool, limits []Limit, oldest map[string]string, now time.Time) Admission {
	olderWaits := func(key string) bool { return oldest[key] != "" && oldest[key] < id }
	key, wait := w.BlockedBy(limits, olderWaits, now)
	switch {
	case key == "":
		w.Add(limits, now)
	case isOTP:
		return Admission{Key: key, Drop: true}
	case oldest[key] == "" || id < oldest[key]:
		oldest[key] = id
	}
	return Admission{Key: key, Wait: wait}
}

// BlockedBy returns the key of the limit for which a message with these limits waits, and
// the wait, or "". olderWaits reports whether an older message waits for a key: the oldest
// leaves first.
func (w Windows) BlockedBy(limits []Limit, olderWaits func(key string) bool, now time.Time) (key string, wait time.Duration) {
	for _, l := range limits {
		if wait := l.Wait(w[WindowOf(l)], now); wait > 0 {
			return l.Key, wait
		}
	}
	for _, l := range limits {
		if olderWaits(l.Key) {
			return l.Key, heldBehind
		}
	}
	return "", 0
}
