// Package admin serves the operators' API on a separate listener: verifications, coach
// accounts and tiers, disputes, failed messages, conversations, webhooks, token introspection,
// metrics and the audit log. Operators cannot change consents, so the package does not import
// approval.
package admin

import (
	"context"
	"net/http"
	"sync"

	"github.com/touchline/touchline/internal/platform/bodies"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/ratelimit"
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
	httpx.Settings
	// Features list the operations of the features that have a folder.
	Features []func(*Server) []Route
	// Metrics serves the Prometheus text format. If it is nil, /metrics is not_found.
	Metrics http.Handler
	// Ready returns why the service cannot serve; nil is always ready.
	Ready func(context.Context) error
	// Limited says why the app services are off although the service can serve, or ""; nil is never.
	Limited func() string
}

// Server serves the operators' API. Create it with New.
type Server struct {
	Config
	adapter  endpoint.Adapter[Caller]
	failures *ratelimit.Limiter
	audited  *ratelimit.Limiter
	// profiling is locked while a profile runs.
	profiling sync.Mutex
}

// New returns a Server of c.
func New(c Config) *Server {
	s := &Server{Config: c, failures: ratelimit.New(failuresPerMinute), audited: ratelimit.New(auditedRefusalsPerMinute)}
	s.adapter = endpoint.Adapter[Caller]{
		Middleware: httpx.Middleware{Settings: c.Settings}, Authenticate: s.authenticate, Identify: Caller.identify,
		Bodies: new(bodies.Memory),
	}
	return s
}

// Handler returns the handler of every operation.
func (s *Server) Handler() http.Handler { return s.adapter.Handler(s.routes()) }
