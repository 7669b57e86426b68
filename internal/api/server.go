package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/message/voice"
	"github.com/touchline/touchline/internal/platform/bodies"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/inflight"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/platform/ratelimit"
	"github.com/touchline/touchline/internal/platform/upload"
	"github.com/touchline/touchline/internal/player"
)

// Config has the dependencies and settings of a Server. All are required unless the
// comment says otherwise.
type Config struct {
	httpx.Settings
	Auth      *auth.Service
	Approvals *player.Service
	Coaches   *coach.Service
	Phones    phone.Parser
	// Idempotency keeps the responses to requests with an Idempotency-Key.
	Idempotency *idempotency.Service
	// NewSpool creates a temporary file for an upload.
	NewSpool func() (upload.Spool, error)
	// Replies receives replies to SMS.
	Replies *message.Replies
	// Receipts receives what providers report about messages; nil if none reports.
	Receipts *message.Receipts
	// Calls answers the steps of calls; nil if no provider calls.
	Calls *voice.Calls
	// Bounces receives reports of mails that did not arrive.
	Bounces *message.Bounces
	// InFlight limits the requests that are handled at the same time; nil means no limit.
	InFlight *inflight.Limits
	// Bodies bounds the memory of bodies; nil means no limit.
	Bodies *bodies.Memory
	// Uploads counts the uploads in progress.
	Uploads        *upload.Limiter
	UploadTimeouts upload.Timeouts
	// Challenge returns the response to Meta's check of the address of its calls, or false if
	// the call is not from Meta.
	Challenge func(message.ProviderCall) (string, bool)
	// ChatReplies returns the replies in a call of Meta, none for a forged call.
	ChatReplies func(message.ProviderCall) []message.Reply

	// Documentation serves the OpenAPI document and its pages; nil serves none.
	Documentation *Documentation
	// NotFoundPage serves browsers at unknown paths; nil means a problem document.
	NotFoundPage http.HandlerFunc
	// Ready returns why the service cannot serve; nil is always ready.
	Ready func(context.Context) error
	// Limited says why the app services are off although the service can serve, or ""; nil is never.
	Limited func() string

	// Origins are the origins whose browser apps may call the API.
	Origins httpx.Origins
	// Features list the operations of the features that have a folder.
	Features []func(*Server) []Route
	// Limiter limits the requests of an address; nil means no limit.
	Limiter *ratelimit.Limiter
}

// Server serves the public API. Create it with New.
type Server struct {
	Config
	adapter endpoint.Adapter[Caller]
}

// New returns a Server of c.
func New(c Config) *Server {
	s := &Server{Config: c}
	s.adapter = endpoint.Adapter[Caller]{
		Middleware:   httpx.Middleware{Settings: c.Settings, HTTPS: strings.HasPrefix(c.PublicURL, "https://")},
		Authenticate: s.authenticate, Identify: Caller.identify, Limiter: c.Limiter, InFlight: c.InFlight, Bodies: c.Bodies, CrossOrigin: httpx.CrossOrigin(c.Origins), NotFoundPage: c.NotFoundPage,
	}
	return s
}

// Handler returns the handler of every operation. All handlers that it returns share
// the rate limit per address.
func (s *Server) Handler() http.Handler { return s.adapter.Handler(s.routes()) }
