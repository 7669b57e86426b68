// Package wall counts requests per network address, in this process alone: the
// first and cheapest limit, before anything is asked of the database. It also says
// from which address a request came, proxies believed or not.
package wall

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/touchline/touchline/internal/fault"
)

// size is how many addresses each of a wall's two generations remembers:
// together a few megabytes at the most.
const size = 16384

// Wall lets so many requests of an address through in a minute. It forgets the
// addresses that came least lately. Safe for concurrent use.
type Wall struct {
	perMinute int

	mu              sync.Mutex
	young, previous map[string]*rate.Limiter
}

// New returns a wall for so many requests a minute and address; 0 is no limit.
func New(perMinute int) *Wall {
	return &Wall{perMinute: perMinute, young: map[string]*rate.Limiter{}}
}

// Wait returns how long address must wait; 0 lets it through and counts it.
func (l *Wall) Wait(address string, now time.Time) time.Duration {
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

func (l *Wall) limiter(address string) *rate.Limiter {
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

// Climb answers rate_limited once address has made too many requests.
func (l *Wall) Climb(address string, now time.Time) error {
	wait := l.Wait(address, now)
	if wait == 0 {
		return nil
	}
	return fault.New(fault.TooMany, "rate_limited", "Too many requests came from this address. Wait, then go on more slowly.").
		With("limit", "requests_per_address_minute").With("ends_at", now.Add(wait)).After(wait)
}
