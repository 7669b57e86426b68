package sms

import (
	"context"
	"time"

	"golang.org/x/time/rate"

	"github.com/touchline/touchline/internal/message"
)

const (
	// maxRateWait is the longest wait for both rates inside an attempt. The attempt then ends
	// before the lease of the outbox does.
	maxRateWait = 20 * time.Second
	// otherShare is the share of a rate that messages other than OTPs may use.
	otherShare = 0.8
)

// rateLimit limits the messages a second through one provider in this process. A nil
// rateLimit has no limit.
type rateLimit struct {
	all, others *rate.Limiter
}

// newRateLimit returns the limit of perSecond, or nil if it is 0.
func newRateLimit(perSecond float64) *rateLimit {
	if perSecond == 0 {
		return nil
	}
	burst := max(1, int(perSecond/10))
	return &rateLimit{all: rate.NewLimiter(rate.Limit(perSecond), burst), others: rate.NewLimiter(rate.Limit(perSecond*otherShare), burst)}
}

// wait waits until the rate admits a message. A wait that is too long is a temporary failure.
func (l *rateLimit) wait(ctx context.Context, otp bool) error {
	if l == nil {
		return nil
	}
	limiters := []*rate.Limiter{l.others, l.all}
	if otp {
		limiters = limiters[1:]
	}
	left := maxRateWait
	for _, limiter := range limiters {
		r := limiter.Reserve()
		delay := r.Delay()
		if left -= delay; left < 0 {
			r.Cancel()
			return &message.SendError{Wait: delay, Reason: "the provider's rate in SMS is used up"}
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			r.Cancel()
			return ctx.Err()
		}
	}
	return nil
}
