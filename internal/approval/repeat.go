package approval

import (
	"slices"
	"time"

	"github.com/touchline/touchline/internal/message"
)

// MaxRequestsPerResendAfter is how many requests with messages one coach may send about
// one child to one party and number in ResendAfter.
const MaxRequestsPerResendAfter = 5

// NewRequests returns the new requests of a change that have messages to send.
func (c Change) NewRequests() []*Request {
	var requests []*Request
	for _, m := range c.Send {
		isNew := m.Kind == MessageRequest && m.State == message.QueuedState && m.Request.RequestedAt.Equal(m.Request.LastSentAt)
		if isNew && !slices.Contains(requests, m.Request) {
			requests = append(requests, m.Request)
		}
	}
	return requests
}

// HoldRepeated holds the messages of a new request that repeats earlier ones for resendAfter
// since the sending that RepeatedFrom returns. The request then counts as last sent with that
// one, so that it may be sent again when its messages leave.
func (c Change) HoldRepeated(r *Request, sent []time.Time, resendAfter time.Duration) {
	from := RepeatedFrom(sent, c.AfterDecision)
	if from.IsZero() {
		return
	}
	for i := range c.Send {
		if m := &c.Send[i]; m.Request == r && m.State == message.QueuedState {
			m.HeldUntil = from.Add(resendAfter)
		}
	}
	r.LastSentAt = from
}

// RepeatedFrom returns the sending from which the message of a new request waits
// ResendAfter, or zero if the message may leave now. sent are the times of the earlier
// requests of the coach about the same child to the same party and number, newest
// first, within ResendAfter; those after MaxRequestsPerResendAfter do not matter.
// afterDecision reports whether the party rejected or revoked: then only the number of
// requests is limited. The consent itself never waits.
func RepeatedFrom(sent []time.Time, afterDecision bool) time.Time {
	switch {
	case len(sent) > 0 && !afterDecision:
		return sent[0]
	case len(sent) >= MaxRequestsPerResendAfter:
		return sent[MaxRequestsPerResendAfter-1]
	}
	return time.Time{}
}
