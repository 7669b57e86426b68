package approval

import (
	"time"

	"github.com/touchline/touchline/internal/message/event"
)

// DigestRules are the settings of the digest that notifies a coach of requests that
// are pending for long.
type DigestRules struct {
	// After is how long a request is pending before the digest counts it.
	After time.Duration
	// Every is the least time between two digests to one coach.
	Every time.Duration
}

// PendingSince returns the time before which a pending request was made that a digest
// at now counts.
func (r DigestRules) PendingSince(now time.Time) time.Time { return now.Add(-r.After) }

// Event returns the event of a digest that counted pending requests.
func (r DigestRules) Event(coachID string, pending int) event.Event {
	return event.Event{Type: event.PendingLong, CoachID: coachID, Count: pending, Waited: r.After}
}

// FirstDue returns when a digest first counts a request made at requestedAt. It is one
// microsecond after r.After, because the request must be pending for longer.
func (r DigestRules) FirstDue(requestedAt time.Time) time.Time {
	return requestedAt.Add(r.After + time.Microsecond)
}

// NextDue returns when to look for the next digest after one at now that counted
// requests. oldest is when the oldest pending request was made, or zero if none is
// pending; the next digest is then not due, and NextDue returns zero.
func (r DigestRules) NextDue(now time.Time, counted int, oldest time.Time) time.Time {
	switch {
	case counted > 0:
		return now.Add(r.Every)
	case oldest.IsZero():
		return time.Time{}
	}
	return r.FirstDue(oldest)
}
