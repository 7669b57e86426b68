package server

import (
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// proxyWarner warns that a proxy seems to be in front, but TRUSTED_PROXIES is not set: then all
// clients share one address and its limits. Any client can send the header, so the log has one line
// an hour.
type proxyWarner struct {
	trusted []netip.Prefix
	log     *slog.Logger
	now     func() time.Time

	mu   sync.Mutex
	next time.Time
}

// proxyWarningEvery is the time between two warnings.
const proxyWarningEvery = time.Hour

// wrap returns a handler that warns of requests with X-Forwarded-For and calls next.
func (p *proxyWarner) wrap(next http.Handler) http.Handler {
	if len(p.trusted) > 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["X-Forwarded-For"]) > 0 && p.isDue() {
			p.log.Warn("a request has X-Forwarded-For, but TOUCHLINE_TRUSTED_PROXIES is not set: behind a proxy set it, or all clients share the limits of one address")
		}
		next.ServeHTTP(w, r)
	})
}

// isDue reports whether the last warning is old enough.
func (p *proxyWarner) isDue() bool {
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Before(p.next) {
		return false
	}
	p.next = now.Add(proxyWarningEvery)
	return true
}
