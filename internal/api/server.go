package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/ratelimit"
	"github.com/touchline/touchline/internal/service/public"
)

// Config has the dependencies and settings of a Server. All are required unless the
// comment says otherwise.
type Config struct {
	public.Services
	httpx.Settings
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
