// Package admin answers those who run the service, on a listener of its own: they
// decide verifications, find, suspend and restore coaches, ask about people's
// tokens, and read figures and what operators did. It has no way to consent: it
// may not even import package approval.
package admin

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/problem"
	"github.com/touchline/touchline/internal/ratelimit"
)

const (
	// timeLimit is how long a call may take, unless it sends a file.
	timeLimit = 10 * time.Second
	// failuresPerMinute is how many tokens that do not work an address may present.
	// It is the only rate limit here: other services ask about tokens at any rate.
	failuresPerMinute = 30
)

// Config is what a Server is made of. Everything is required but for what says
// otherwise.
type Config struct {
	Operators *operator.Service
	Inspector *auth.Inspector
	// What operators do about coaches.
	Oversight     *coach.AccountAdmin
	Subscriptions *coach.Subscriptions
	Verifications *coach.Verifications
	Documents     *coach.Documents
	Phones        phone.Parser
	// Vault protects the cursors of lists.
	Vault *auth.Vault
	// Wake tells the streams of these accounts that something of theirs has ended;
	// nil is nobody to tell.
	Wake func(accountIDs ...string)
	// Metrics answers in the text format of Prometheus.
	Metrics http.Handler
	// Ready returns what keeps the service from serving; nil is always ready.
	Ready func(context.Context) error

	// PublicURL is where the outside reaches the service, without a final slash.
	PublicURL string
	// TrustedProxies are those whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix

	Now func() time.Time
	Log *slog.Logger
	// Observe is told of every answer; nil is nobody.
	Observe func(method string, info *httpx.RequestInfo, took time.Duration)
}

// Server answers the operators' calls. Make it with New.
type Server struct {
	Config
	middleware httpx.Middleware
	failures   *ratelimit.Limiter
}

// New returns a Server of c.
func New(c Config) *Server {
	if c.Wake == nil {
		c.Wake = func(...string) {}
	}
	return &Server{
		Config:     c,
		middleware: httpx.Middleware{Problems: problem.Writer{PublicURL: c.PublicURL, Log: c.Log}, Log: c.Log, Observe: c.Observe},
		failures:   ratelimit.New(failuresPerMinute),
	}
}

// Handler returns the handler of every operation.
func (s *Server) Handler() http.Handler {
	routes := s.routes()
	all := make([]httpx.Route, len(routes))
	for i := range routes {
		rt := &routes[i]
		all[i] = httpx.Route{Method: rt.method, Pattern: rt.pattern, Handle: func(w http.ResponseWriter, r *http.Request) error {
			return s.answer(w, r, rt)
		}}
	}
	absent := func(http.ResponseWriter, *http.Request) error { return fault.Missing() }
	next := s.middleware.Router(all, absent, func(r *http.Request) *httpx.RequestInfo { return &callOf(r).RequestInfo })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := new(call)
		s.middleware.Serve(w, r.WithContext(context.WithValue(r.Context(), callKey{}, c)), &c.RequestInfo, next)
	})
}
