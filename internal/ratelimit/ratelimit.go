// Package ratelimit limits requests per network address. It counts in this process
// only, so it costs no database read. It also derives the client address of a
// request, with or without trusted proxies.
package ratelimit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/touchline/touchline/internal/fault"
)

// size bounds the addresses in each of the two generations: a few megabytes in all.
const size = 16384

// Limiter limits the requests of each address per minute. It forgets the least
// recently seen addresses. It is safe for concurrent use.
type Limiter struct {
	perMinute int

	mu              sync.Mutex
	young, previous map[string]*rate.Limiter
}

// New returns a limiter of perMinute requests for each address; 0 means no limit.
func New(perMinute int) *Limiter {
	return &Limiter{perMinute: perMinute, young: map[string]*rate.Limiter{}}
}

// Wait returns how long address must wait; 0 lets it through and counts it.
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

func (l *Limiter) limiter(address string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if limiter, ok := l.young[address]; ok {
		return limiter
	}
	limiter, ok := l.previous[address]
	if !ok {
		limiter = rate.NewLimiter(rate.Every(time.Minute/time.Duration(l.perMinute)), l.perMinute)
	}
	if len(l.young) >= size {
		l.previous, l.young = l.young, make(map[string]*rate.Limiter)
	}
	l.young[address] = limiter
	return limiter
}

// Allow answers rate_limited once address has made too many requests.
func (l *Limiter) Allow(address string, now time.Time) error {
	wait := l.Wait(address, now)
	if wait == 0 {
		return nil
	}
	return fault.New(fault.TooMany, "rate_limited", "Too many requests came from this address. Wait, then go on more slowly.").
		With("limit", "requests_per_address_minute").With("ends_at", now.Add(wait)).After(wait)
}
