package inflight

import "time"

const (
	// 64 requests keep the processors, the database pool and the group commit busy. More
	// would wait in the pool, which serves them in random order.
	initialLimit, lowestLimit, highestLimit = 64, 16, 256
	// windowTime is how long requests are measured before the limit changes.
	windowTime = 100 * time.Millisecond
	// slowTime is the time limit of a fast request, from its admission. If more than one
	// in slowShare takes longer while the limit is in use, the limit is too high.
	slowTime  = 150 * time.Millisecond
	slowShare = 10
	// One change lowers the limit to no less than smallestFactor of its value.
	smallestFactor = 0.3
)

// window measures the requests of about windowTime and derives the next limit: it rises by
// a tenth while requests are fast and the limit is in use, and falls in proportion to the
// mean time of slow requests. Without load it returns to initialLimit.
type window struct {
	start    time.Time
	peak     int // most requests in flight
	finished int
	slow     int
	slowSum  time.Duration
	// lowered is when the limit was last lowered. Requests that were admitted before say
	// nothing about the new limit.
	lowered time.Time
}

// observe counts a request that ends now, and returns the limit to use.
func (w *window) observe(start, now time.Time, limit float64) float64 {
	if !start.Before(w.lowered) {
		w.finished++
		if took := now.Sub(start); took > slowTime {
			w.slow++
			w.slowSum += took
		}
	}
	if now.Sub(w.start) < windowTime || w.finished == 0 {
		return limit
	}
	done := *w
	*w = window{start: now, lowered: w.lowered}
	switch {
	case done.peak < int(limit)/2:
		return limit + (initialLimit-limit)/4
	case done.slow*slowShare > done.finished:
		w.lowered = now
		mean := done.slowSum / time.Duration(done.slow)
		return max(lowestLimit, limit*max(smallestFactor, float64(slowTime)/float64(mean)))
	case done.peak >= int(limit):
		return min(highestLimit, limit*1.1)
	default:
		return limit
	}
}
