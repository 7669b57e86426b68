// Package handlers serves sign-in, sessions and accounts as JSON.
package handlers

import (
	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/endpoint"
)

// calls serves accounts as JSON.
type calls struct {
	Auth *auth.Service
	api  *api.Server
}

// Operations returns the operations of sign-in, sessions and accounts.
func Operations(s *auth.Service) func(*api.Server) []api.Route {
	return func(a *api.Server) []api.Route { return calls{s, a}.routes() }
}

func (h calls) routes() []api.Route {
	return []api.Route{
		{Method: "POST", Pattern: "/auth/request-otp", Handle: endpoint.Handle(h.requestOTP), Authenticate: api.Anonymous, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/auth/verify-otp", Handle: endpoint.Handle(h.verifyOTP), Authenticate: api.Anonymous, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/auth/login", Handle: endpoint.Handle(h.login), Authenticate: api.Anonymous, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/auth/refresh", Handle: endpoint.Handle(h.refresh), Authenticate: api.Anonymous, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/auth/logout", Handle: endpoint.Handle(h.logout), Authenticate: h.api.AuthenticateOptional, Body: endpoint.OptionalJSON, Urgent: true},
		{Method: "GET", Pattern: "/auth/sessions", Handle: endpoint.Handle(h.listSessions), Query: endpoint.Paged()},
		{Method: "DELETE", Pattern: "/auth/sessions/{session_id}", Handle: endpoint.HandleID("session_id", h.endSession), Urgent: true},
		{Method: "POST", Pattern: "/auth/change-number", Handle: h.api.Idempotent(endpoint.Handle(h.changeNumber), h.rebuildNumberChange), Authorize: api.CoachOnly, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/me", Handle: endpoint.Handle(h.me)},
		{Method: "DELETE", Pattern: "/api/me", Handle: endpoint.Handle(h.closeAccount), Authorize: api.CoachOnly, Body: endpoint.JSON},
	}
}
