package admin

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/ratelimit"
)

// A handler has the type func(context.Context, Request[T]) (Response, error).
// Package endpoint converts it to an HTTP handler.
type (
	// Request is a request of an operator, with a body of type T.
	Request[T any] = endpoint.Request[Caller, T]
	// Response is the result of a handler.
	Response = endpoint.Response

	Meta  = endpoint.Meta[Caller]
	Route = endpoint.Route[Caller]
	// NoBody is the body of a request without one.
	NoBody = struct{}
)

// Caller is the operator token of a request.
type Caller struct{ *operator.Token }

func (c Caller) identify(info *httpx.RequestInfo) {
	if c.Token != nil {
		info.OperatorID = c.ID
	}
}

// authenticate returns the operator whose token the request carries. An address that sends
// too many invalid tokens gets 429 for further ones. A valid token is never refused for its
// address, because operators may share one. Requests without a token do not count.
func (s *Server) authenticate(r *http.Request) (Caller, error) {
	return s.authenticateWith(r, s.Tokens.Authenticate)
}

// authenticateScrape is authenticate for a route that works without the database.
func (s *Server) authenticateScrape(r *http.Request) (Caller, error) {
	return s.authenticateWith(r, s.Tokens.AuthenticateScrape)
}

func (s *Server) authenticateWith(r *http.Request, check func(context.Context, string) (*operator.Token, error)) (Caller, error) {
	secret, err := httpx.Bearer(r.Header)
	var token *operator.Token
	if err == nil {
		token, err = check(r.Context(), secret)
	}
	if fault.KindOf(err) != fault.Unauthenticated {
		return Caller{token}, err
	}
	code := fault.CodeOf(err)
	if code != httpx.CodeTokenMissing {
		if err := s.failures.Allow(ratelimit.Address(r, s.TrustedProxies), s.Now()); err != nil {
			return Caller{}, err
		}
		s.auditRefusal(r.Context(), actor.Operator{Name: "refused token"}, operator.TokenRefused, "", code)
	}
	return Caller{}, fault.New(fault.Unauthenticated, code, "Send a valid operator token as Authorization: Bearer. Create one with: touchline admin token create.")
}

func public(r *http.Request) (Caller, error) { return endpoint.Public[Caller](r) }

// Scope allows tokens with this scope.
func (s *Server) Scope(required operator.Scope) []func(context.Context, Caller) error {
	return []func(context.Context, Caller) error{func(ctx context.Context, caller Caller) error {
		return s.RequireScope(ctx, caller, required)
	}}
}

// EitherScope allows tokens with one of two scopes. The handler must check which.
func (s *Server) EitherScope(first, second operator.Scope) []func(context.Context, Caller) error {
	return []func(context.Context, Caller) error{func(ctx context.Context, caller Caller) error {
		if caller.HasScope(second) {
			return nil
		}
		return s.RequireScope(ctx, caller, first)
	}}
}

// RequireScope returns insufficient_scope and audits the refusal if the caller lacks
// the scope.
func (s *Server) RequireScope(ctx context.Context, caller Caller, required operator.Scope) error {
	err := s.Tokens.RequireScope(caller.Token, required)
	if err != nil {
		s.auditRefusal(ctx, caller.Operator(), operator.ScopeRefused, caller.ID, "scope "+string(required))
	}
	return err
}

// auditRefusal records a refused token or scope, up to auditedRefusalsPerMinute. If that
// fails, the request is still refused.
func (s *Server) auditRefusal(ctx context.Context, by actor.Operator, action, tokenID, detail string) {
	if s.audited.Allow(tokenID, s.Now()) != nil {
		return
	}
	if err := s.Tokens.Record(ctx, by, action, "token", tokenID, detail); err != nil {
		s.Log.WarnContext(ctx, "record a refusal in the audit log", "action", action, "error", err)
	}
}
