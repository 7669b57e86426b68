package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/wire"
)

// A handler has the type func(context.Context, Request[T]) (Response, error).
// Package endpoint converts it to an HTTP handler.
type (
	// Request is a request with a body of type T.
	Request[T any] = endpoint.Request[Caller, T]
	// Response is the result of a handler.
	Response = endpoint.Response

	Meta  = endpoint.Meta[Caller]
	Route = endpoint.Route[Caller]
	// NoBody is the body of a request without one.
	NoBody = struct{}
)

// Caller is the account whose access token a request carries.
type Caller struct {
	actor.Actor
	Claims auth.Claims
	// SignInError is why a request on a route with optional sign-in has no account.
	SignInError error
}

func (c Caller) identify(info *httpx.RequestInfo) {
	info.AccountID, info.SessionID = c.AccountID, c.SessionID
}

// authenticate returns the caller whose access token the request carries.
func (s *Server) authenticate(r *http.Request) (Caller, error) {
	token, err := httpx.Bearer(r.Header)
	if err != nil {
		return Caller{}, err
	}
	by, claims, err := s.Auth.Authenticate(r.Context(), token)
	by.Network = httpx.InfoFrom(r.Context()).Client
	return Caller{Actor: by, Claims: claims}, err
}

// authenticateOptional is authenticate for a route that anonymous callers may use.
func (s *Server) authenticateOptional(r *http.Request) (Caller, error) {
	caller, err := s.authenticate(r)
	if fault.KindOf(err) == fault.Unauthenticated {
		return Caller{SignInError: err}, nil
	}
	return caller, err
}

func anonymous(r *http.Request) (Caller, error) { return endpoint.Public[Caller](r) }

func errRole() error {
	return fault.New(fault.Forbidden, "role_not_allowed", "Your role may not make this call. Sign in with another role.")
}

// authorize returns an error if the caller may not use the route.
type authorize = func(context.Context, Caller) error

// roles allows callers with one of these roles.
func roles(allowed ...actor.Role) authorize {
	return func(_ context.Context, caller Caller) error {
		if !slices.Contains(allowed, caller.Role) {
			return errRole()
		}
		return nil
	}
}

var (
	CoachOnly    = []authorize{roles(actor.Coach)}
	guardianOnly = []authorize{roles(actor.Guardian)}
	studentOnly  = []authorize{roles(actor.Student)}
	PartyOnly    = []authorize{roles(actor.Guardian, actor.Student)}
)

// checkPlayerVisible returns not_found unless the caller may see the player.
func (s *Server) checkPlayerVisible(ctx context.Context, by actor.Actor, playerID string) error {
	_, err := s.Approvals.Player(ctx, by, playerID)
	return err
}

// CheckFaults returns the faults of a request that names a player, as an error. A player
// that is not the caller's is not_found, whatever the faults.
func (s *Server) CheckFaults(ctx context.Context, by actor.Actor, playerID string, f wire.Faults) error {
	if len(f) > 0 && endpoint.IsID(playerID) {
		if err := s.checkPlayerVisible(ctx, by, playerID); err != nil {
			return err
		}
	}
	return f.Err()
}
