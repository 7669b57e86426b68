package admin

import (
	"context"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/apidocs"
	"github.com/touchline/touchline/internal/platform/endpoint"
)

// routes lists every operation.
func (s *Server) routes() []Route {
	introspect, coaches := s.Scope(operator.Introspect), s.Scope(operator.Coaches)
	deliveries := s.Scope(operator.Deliveries)
	audit, metrics := s.Scope(operator.Audit), s.Scope(operator.Metrics)
	routes := []Route{
		{Method: "POST", Pattern: "/auth/introspect", Handle: handle(s.introspect), Authorize: introspect, Body: endpoint.Form},
		{Method: "POST", Pattern: "/auth/revoke", Handle: handle(s.revoke), Authorize: introspect, Body: endpoint.Form, Produces: endpoint.AnyMedia},
		{Method: "GET", Pattern: "/api/admin/overview", Handle: handle(s.overview)},
		{Method: "POST", Pattern: "/api/admin/coaches/search", Handle: handle(s.searchCoaches), Authorize: coaches, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/admin/coaches/{coach_id}", Handle: handleID("coach_id", s.coach), Authorize: coaches},
		{Method: "PUT", Pattern: "/api/admin/coaches/{coach_id}/tier", Handle: handleID("coach_id", s.setTier), Authorize: coaches, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/admin/coaches/{coach_id}/suspend", Handle: handleID("coach_id", s.suspend), Authorize: coaches, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/admin/coaches/{coach_id}/restore", Handle: handleID("coach_id", s.restore), Authorize: coaches},
		{Method: "GET", Pattern: "/api/admin/tier-requests", Handle: handle(s.listTierRequests), Authorize: coaches, Query: endpoint.Paged()},
		{Method: "POST", Pattern: "/api/admin/tier-requests/{coach_id}/approve", Handle: handleID("coach_id", s.approveTier), Authorize: coaches, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/admin/tier-requests/{coach_id}/refuse", Handle: handleID("coach_id", s.refuseTier), Authorize: coaches, Body: endpoint.JSON},
		{Method: "GET", Pattern: "/api/admin/deliveries", Handle: handle(s.listDeliveries), Authorize: deliveries, Query: endpoint.Paged("state", "coach_id")},
		{Method: "POST", Pattern: "/api/admin/deliveries/search", Handle: handle(s.searchDeliveries), Authorize: deliveries, Body: endpoint.JSON},
		{Method: "POST", Pattern: "/api/admin/deliveries/{delivery_id}/retry", Handle: handleID("delivery_id", s.retryDelivery), Authorize: deliveries},
		{Method: "GET", Pattern: "/api/admin/message-costs", Handle: handle(s.listMessageCosts), Authorize: deliveries, Query: endpoint.Paged("from", "to", "coach_id")},
		{Method: "GET", Pattern: "/api/admin/audit", Handle: handle(s.audit), Authorize: audit, Query: endpoint.Paged("object_id")},
		{Method: "GET", Pattern: "/metrics", Handle: handle(s.metrics), Authenticate: s.authenticateScrape, Authorize: metrics, Produces: endpoint.AnyMedia},
		s.profileRoute(s.Scope(operator.Profiles)),
		{Method: "GET", Pattern: "/.well-known/oauth-authorization-server", Handle: handle(s.metadata), Authenticate: public, Produces: endpoint.AnyMedia},
		{Method: "GET", Pattern: "/healthz", Handle: handle(s.healthz), Authenticate: public, Produces: endpoint.AnyMedia},
		{Method: "GET", Pattern: "/readyz", Handle: handle(s.readyz), Authenticate: public, Produces: endpoint.AnyMedia},
	}
	documentation := apidocs.NewPages(apidocs.Config{Document: openAPI, ProblemsURL: s.PublicURL})
	for pattern, page := range documentation.Handlers() {
		routes = append(routes, Route{Method: "GET", Pattern: pattern, Authenticate: public, Produces: endpoint.AnyMedia, Handle: handle(func(context.Context, Request[NoBody]) (Response, error) {
			return Response{Write: page}, nil
		})})
	}
	for _, feature := range s.Features {
		routes = append(routes, feature(s)...)
	}
	return routes
}

// handle is endpoint.Handle for the handlers of this package.
func handle[T any](h func(context.Context, Request[T]) (Response, error)) endpoint.Handler[Caller] {
	return endpoint.Handle(h)
}

// handleID is endpoint.HandleID for the handlers of this package.
func handleID[T any](name string, h func(context.Context, Request[T], string) (Response, error)) endpoint.Handler[Caller] {
	return endpoint.HandleID(name, h)
}
