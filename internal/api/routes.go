package api

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
)

// routes lists every operation.
func (s *Server) routes() []Route {
	routes := s.serviceRoutes()
	for _, feature := range s.Features {
		routes = append(routes, feature(s)...)
	}
	return withCSVRoutes(routes)
}

// CompleteCoach authorizes a coach with a complete profile, which calls that send a request need
// (spec section 5, rule 7).
func (s *Server) CompleteCoach() []authorize {
	return []authorize{roles(actor.Coach), s.ProfileComplete}
}

// ProfileComplete returns profile_incomplete until the coach's profile is complete.
func (s *Server) ProfileComplete(ctx context.Context, caller Caller) error {
	return s.Coaches.Complete(ctx, caller.Actor)
}

// serviceRoutes are the calls of SMS, WhatsApp and mail providers, the key set, health and
// documentation.
func (s *Server) serviceRoutes() []Route {
	routes := []Route{
		// Without limits: all receipts come from one address, and some providers do not repeat a
		// call. The secret is checked before anything else.
		{Method: "GET", Pattern: "/receipts/{message}/{secret}", Handle: endpoint.Handle(s.receiveReceipt), Authenticate: s.authenticateReceipt, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "POST", Pattern: "/receipts/{message}/{secret}", Handle: endpoint.Handle(s.receiveReceipt), Authenticate: s.authenticateReceipt, Body: endpoint.AnyBody, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "GET", Pattern: "/receipts/{provider}", Handle: endpoint.Handle(s.verifyReceipts), Authenticate: Anonymous, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "POST", Pattern: "/receipts/{provider}", Handle: endpoint.Handle(s.receiveReceipts), Authenticate: s.authenticateReceipts, Body: endpoint.AnyBody, MaxBody: maxReceipts, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "POST", Pattern: "/calls/{message}/{secret}", Handle: endpoint.Handle(s.takeCallStep), Authenticate: s.authenticateCall, Body: endpoint.AnyBody, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "POST", Pattern: "/replies/{provider}", Handle: endpoint.Handle(s.receiveReply), Authenticate: s.authenticateReply, Body: endpoint.AnyBody, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "GET", Pattern: "/replies/{provider}/{secret}", Handle: endpoint.Handle(s.receiveReply), Authenticate: s.authenticateReply, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "POST", Pattern: "/bounces/{secret}", Handle: endpoint.Handle(s.receiveBounce), Authenticate: s.authenticateBounce, Body: endpoint.AnyBody, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "GET", Pattern: "/.well-known/jwks.json", Handle: endpoint.Handle(s.jwks), Authenticate: Anonymous, Produces: endpoint.AnyMedia, Urgent: true},
		{Method: "GET", Pattern: "/.well-known/oauth-authorization-server", Handle: endpoint.Handle(s.metadata), Authenticate: Anonymous, Produces: endpoint.AnyMedia, Urgent: true},
		{Method: "GET", Pattern: "/healthz", Handle: endpoint.Handle(s.healthz), Authenticate: Anonymous, Produces: endpoint.AnyMedia, NoLimits: true},
		{Method: "GET", Pattern: "/readyz", Handle: endpoint.Handle(s.readyz), Authenticate: Anonymous, Produces: endpoint.AnyMedia, NoLimits: true},
	}
	if s.Documentation != nil {
		for pattern, page := range s.Documentation.Handlers() {
			routes = append(routes, pageRoute(pattern, page))
		}
	}
	return routes
}

// pageRoute serves a page that anyone may read.
func pageRoute(pattern string, page func(http.ResponseWriter, *http.Request) error) Route {
	return Route{Method: "GET", Pattern: pattern, Authenticate: Anonymous, Produces: endpoint.AnyMedia, Handle: endpoint.Handle(func(context.Context, Request[NoBody]) (Response, error) {
		return Response{Write: page}, nil
	})}
}
