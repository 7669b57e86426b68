package httpx

import (
	"context"
	"log/slog"
	"net/netip"
	"time"

	"github.com/touchline/touchline/internal/platform/problem"
	"github.com/touchline/touchline/internal/platform/telemetry"
)

// Settings are the parts, beside their services, that the API, the pages and the operators'
// listener need. All are required unless the comment says otherwise.
type Settings struct {
	// PublicURL is the URL of the public listener, without a final slash.
	PublicURL string
	// HTTPSOnly redirects or refuses requests of clients that reached a proxy over http.
	HTTPSOnly bool
	// TrustedProxies are the proxies whose X-Forwarded headers count.
	TrustedProxies []netip.Prefix

	Now func() time.Time
	// NewTicker returns a channel that receives the time each period, and a function
	// that stops it.
	NewTicker func(period time.Duration) (ticks <-chan time.Time, stop func())
	Log       *slog.Logger
	// AccessLog writes a line for each request at info, and not only at debug.
	AccessLog bool
	// Observe is called after each response; it may be nil.
	Observe func(method string, info *RequestInfo, took time.Duration)
	// Tracer makes a span for each request; nil makes none.
	Tracer *telemetry.Tracer
	// Refused is called with each error that is written as a problem or shown on a page; it may
	// be nil.
	Refused func(ctx context.Context, info *RequestInfo, err error)
}

// Problems returns the writer that classifies, logs and writes errors.
func (s *Settings) Problems() problem.Writer {
	return problem.Writer{PublicURL: s.PublicURL, Log: s.Log}
}
