// Package ratelimit limits requests per network address. It counts in this process
// only, so it costs no database read. It also derives the client address of a
// request, with or without trusted proxies.
package ratelimit

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/touchline/touchline/internal/platform/fault"
)

// size is the number of addresses to remember: a few megabytes.
const size = 32768

// Limiter limits the requests of each address per minute. It forgets the least
// recently seen addresses. It is safe for concurrent use.
type Limiter struct {
	perMinute int
	limiters  *lru.Cache[string, *rate.Limiter] // by address
}

// New returns a limiter of perMinute requests for each address; 0 means no limit.
func New(perMinute int) *Limiter {
	limiters, _ := lru.New[string, *rate.Limiter](size) // fails only for a size below 1
	return &Limiter{perMinute: perMinute, limiters: limiters}
}

// Wait returns how long address must wait before its next request. If it is 0, Wait
// counts a request. A refused request does not count.
func (l *Limiter) Wait(address string, now time.Time) time.Duration {
	if l.perMinute <= 0 {
		return 0
	}
	reservation := l.limiter(address).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

// limiter returns the limiter of address. Concurrent first requests share one.
func (l *Limiter) limiter(address string) *rate.Limiter {
	if limiter, ok := l.limiters.Get(address); ok {
		return limiter
	}
	limiter := rate.NewLimiter(rate.Every(time.Minute/time.Duration(l.perMinute)), l.perMinute)
	if other, ok, _ := l.limiters.PeekOrAdd(address, limiter); ok {
		return other
	}
	return limiter
}

// Allow counts a request of address. It returns rate_limited with the time to wait if
// the address has made too many.
func (l *Limiter) Allow(address string, now time.Time) error {
	wait := l.Wait(address, now)
	if wait == 0 {
		return nil
	}
	return fault.New(fault.TooMany, "rate_limited", "Too many requests came from this address. Wait, then go on more slowly.").
		With("limit", "requests_per_address_minute").With("ends_at", now.Add(wait)).After(wait)
}
