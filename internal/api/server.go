package api

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/idempotency"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/phone"
	"github.com/touchline/touchline/internal/problem"
	"github.com/touchline/touchline/internal/ratelimit"
)

// Config is what a Server is made of. Everything is required but for what says
// otherwise.
type Config struct {
	Auth        *auth.Service
	Approvals   *approval.Service
	Coaches     *coach.Service
	Dashboards  *coach.Dashboards
	Directory   *coach.Directory
	Documents   *coach.Documents
	Tray        *notify.Tray
	Hub         *notify.Hub
	Idempotency *idempotency.Service
	Phones      phone.Parser

	// Subscriptions holds the tiers by which everything is judged.
	Subscriptions *coach.Subscriptions
	Verifications *coach.Verifications

	// Documentation serves the contract; nil leaves it out.
	Documentation *Documentation
	// Pages are mounted for GET beside the API, by ServeMux pattern without a
	// method; they stand behind the same rate limit.
	Pages map[string]http.Handler
	// Ready returns what keeps the service from serving; nil is always ready.
	Ready func(context.Context) error

	// PublicURL is where the outside reaches the service, without a final slash.
	PublicURL string
	// TrustedProxies are those whose X-Forwarded-For is believed.
	TrustedProxies []netip.Prefix
	// RequestsPerMinute is how many requests an address may make; 0 is no limit.
	RequestsPerMinute int

	Now func() time.Time
	Log *slog.Logger
	// Observe is told of every answer; nil is nobody.
	Observe func(method string, info *httpx.RequestInfo, took time.Duration)

	// StreamPoll and StreamBeat are how often a stream asks whether it may go on
	// and how often it shows that it lives; 0 means 2 s and 20 s.
	StreamPoll, StreamBeat time.Duration
	// UploadStall and UploadWhole are how long an upload may come without a byte and
	// in all; 0 means 30 s and 5 min.
	UploadStall, UploadWhole time.Duration
}

// Server answers the calls of the contract. Make it with New.
type Server struct {
	auth        *auth.Service
	approvals   *approval.Service
	coaches     *coach.Service
	dashboards  *coach.Dashboards
	directory   *coach.Directory
	documents   *coach.Documents
	tray        *notify.Tray
	hub         *notify.Hub
	idempotency *idempotency.Service
	phones      phone.Parser
	docs        *Documentation
	pages       map[string]http.Handler
	ready       func(context.Context) error

	subscriptions *coach.Subscriptions
	verifications *coach.Verifications

	adapter endpoint.Adapter[Caller]
	now     func() time.Time
	log     *slog.Logger

	streamPoll, streamBeat            time.Duration
	uploadStallTimeout, uploadTimeout time.Duration
	uploads                           uploadLimiter
}

// New returns a Server of c.
func New(c Config) *Server {
	s := &Server{
		auth: c.Auth, approvals: c.Approvals, coaches: c.Coaches, documents: c.Documents, dashboards: c.Dashboards, directory: c.Directory, tray: c.Tray, hub: c.Hub,
		subscriptions: c.Subscriptions, verifications: c.Verifications,
		idempotency: c.Idempotency, phones: c.Phones, docs: c.Documentation, pages: c.Pages, ready: c.Ready,
		now: c.Now, log: c.Log,
		streamPoll: c.StreamPoll, streamBeat: c.StreamBeat,
	}
	if s.streamPoll <= 0 {
		s.streamPoll = 2 * time.Second
	}
	if s.streamBeat <= 0 {
		s.streamBeat = 20 * time.Second
	}
	s.uploadStallTimeout, s.uploadTimeout = cmp.Or(c.UploadStall, uploadStallTimeout), cmp.Or(c.UploadWhole, uploadTimeout)
	s.adapter = endpoint.Adapter[Caller]{
		Middleware:   httpx.Middleware{Problems: problem.Writer{PublicURL: c.PublicURL, Log: c.Log}, Log: c.Log, Observe: c.Observe},
		Authenticate: s.authenticate, TrustedProxies: c.TrustedProxies, Limiter: ratelimit.New(c.RequestsPerMinute), Now: c.Now,
	}
	return s
}

// Handler returns the handler of every operation. All handlers that it returns share
// the rate limit per address.
func (s *Server) Handler() http.Handler { return s.adapter.Handler(s.routes()) }
