// Package admin serves the operators' API on its own listener: verifications, coach
// accounts and tiers, disputes, failed messages, conversations, webhooks, token introspection,
// metrics and the audit log. Operators cannot change consents, so the package does not import
// approval.
package admin

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/problem"
	"github.com/touchline/touchline/internal/ratelimit"
	"github.com/touchline/touchline/internal/service"
)

// failuresPerMinute limits the invalid tokens per address. There is no other rate limit:
// services introspect tokens at any rate.
const failuresPerMinute = 30

// auditedRefusalsPerMinute limits the audit entries about refused tokens, and about the
// refused scopes of one token, so that an attack does not fill the audit log.
const auditedRefusalsPerMinute = 10

// Config has the dependencies and settings of a Server. All are required unless the
// comment says otherwise.
type Config struct {
	service.Operators
	// Metrics serves the Prometheus text format. If it is nil, /metrics is not_found.
	Metrics http.Handler
	// Ready returns why the service cannot serve; nil is always ready.
	Ready func(context.Context) error

	// PublicURL is the URL of the public listener, without a final slash.
	PublicURL string
	// TrustedProxies are the proxies whose X-Forwarded headers count.
	TrustedProxies []netip.Prefix

	Now func() time.Time
	// NewTicker paces calls that wait; see worker.NewTicker.
	NewTicker func(period time.Duration) (ticks <-chan time.Time, stop func())
	Log       *slog.Logger
	// AccessLog writes a line for each request at info.
	AccessLog bool
	// Observe is called after each response; it may be nil.
	Observe func(method string, info *httpx.RequestInfo, took time.Duration)
	// Refused is called with each error that is written as a problem; it may be nil.
	Refused func(ctx context.Context, info *httpx.RequestInfo, err error)
}

// Server serves the operators' API. Create it with New.
type Server struct {
	Config
	adapter  endpoint.Adapter[Caller]
	failures *ratelimit.Limiter
	audited  *ratelimit.Limiter
}

// New returns a Server of c.
func New(c Config) *Server {
	s := &Server{Config: c, failures: ratelimit.New(failuresPerMinute), audited: ratelimit.New(auditedRefusalsPerMinute)}
	s.adapter = endpoint.Adapter[Caller]{
		Middleware: httpx.Middleware{
			Problems: problem.Writer{PublicURL: c.PublicURL, Log: c.Log}, Log: c.Log,
			AccessLog: c.AccessLog, Observe: c.Observe, Refused: c.Refused,
		},
		Authenticate: s.authenticate, Identify: Caller.identify, TrustedProxies: c.TrustedProxies, Now: c.Now,
	}
	return s
}

// Handler returns the handler of every operation.
func (s *Server) Handler() http.Handler { return s.adapter.Handler(s.routes()) }
