package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/input"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/upload"
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
	by.Network, by.Via = httpx.InfoFrom(r.Context()).Client, actor.ViaAPI
	return Caller{Actor: by, Claims: claims}, err
}

// AuthenticateOptional is authenticate for a route that anonymous callers may use.
func (s *Server) AuthenticateOptional(r *http.Request) (Caller, error) {
	caller, err := s.authenticate(r)
	if fault.KindOf(err) == fault.Unauthenticated {
		return Caller{SignInError: err}, nil
	}
	return caller, err
}

// Anonymous authenticates no caller, for a route that anyone may use.
func Anonymous(r *http.Request) (Caller, error) { return endpoint.Public[Caller](r) }

// ErrRole returns role_not_allowed.
func ErrRole() error {
	return fault.New(fault.Forbidden, "role_not_allowed", "Your role may not make this call. Sign in with another role.")
}

// authorize returns an error if the caller may not use the route.
type authorize = func(context.Context, Caller) error

// roles allows callers with one of these roles.
func roles(allowed ...actor.Role) authorize {
	return func(_ context.Context, caller Caller) error {
		if !slices.Contains(allowed, caller.Role) {
			return ErrRole()
		}
		return nil
	}
}

var (
	CoachOnly    = []authorize{roles(actor.Coach)}
	GuardianOnly = []authorize{roles(actor.Guardian)}
	StudentOnly  = []authorize{roles(actor.Student)}
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

// CloseConnection is the response to an upload whose body is not read to its end.
var CloseConnection = Response{Header: http.Header{"Connection": {"close"}}}

// UploadBody returns the body of an upload, whose time is limited. The caller calls its Done.
func (s *Server) UploadBody(u endpoint.Upload) *upload.Body {
	return upload.NewBody(u, u.Control, s.UploadTimeouts)
}

// AcquireUpload takes a slot for an upload of the caller.
func (s *Server) AcquireUpload(_ context.Context, caller Caller) (release func(), err error) {
	return s.Uploads.Acquire(caller.AccountID, s.Now())
}

// Reader returns a reader of what people enter.
func (s *Server) Reader(f *wire.Faults) input.Reader {
	return input.Reader{Phones: s.Phones, Now: s.Now(), Faults: f}
}
