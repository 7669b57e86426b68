package api

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/touchline/touchline/internal/fault"
)

// wallSize is how many addresses each of a wall's two generations remembers:
// together a few megabytes at the most.
const wallSize = 16384

// wall is the first and cheapest limit: requests per address, counted by this
// process alone. It forgets the addresses that came least lately.
type wall struct {
	perMinute int

	mu              sync.Mutex
	young, previous map[string]*rate.Limiter
}

func newWall(perMinute int) *wall {
	return &wall{perMinute: perMinute, young: map[string]*rate.Limiter{}}
}

// wait returns how long address must wait; 0 lets it through and counts it.
func (l *wall) wait(address string, now time.Time) time.Duration {
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

func (l *wall) limiter(address string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if limiter, ok := l.young[address]; ok {
		return limiter
	}
	limiter, ok := l.previous[address]
	if !ok {
		limiter = rate.NewLimiter(rate.Every(time.Minute/time.Duration(l.perMinute)), l.perMinute)
	}
	if len(l.young) >= wallSize {
		l.previous, l.young = l.young, make(map[string]*rate.Limiter)
	}
	l.young[address] = limiter
	return limiter
}

// climb answers rate_limited once the caller's address has made too many requests.
func (s *Server) climb(w http.ResponseWriter, r *http.Request) error {
	now := s.now()
	wait := s.wall.wait(s.client(r), now)
	if wait == 0 {
		return nil
	}
	return fault.New(fault.TooMany, "rate_limited", "Too many requests came from this address. Wait, then go on more slowly.").
		With("limit", "requests_per_address_minute").With("ends_at", now.Add(wait)).After(wait)
}
