package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/idempotency"
	"github.com/touchline/touchline/internal/platform/keyed"
)

var (
	IdempotencyKey = keyed.Key
	IsID           = endpoint.IsID
)

// Queries returns the query parameters of each route, by its method and pattern.
func (s *Server) Queries() map[string][]string {
	queries := map[string][]string{}
	for _, rt := range s.routes() {
		queries[rt.Method+" "+rt.Pattern] = rt.Query
	}
	return queries
}

// Bodies returns the type of the JSON body of each route, by its method and pattern.
func (s *Server) Bodies() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, rt := range s.routes() {
		if rt.Body == endpoint.JSON || rt.Body == endpoint.OptionalJSON || rt.Body == endpoint.MergePatch {
			types[rt.Method+" "+rt.Pattern] = rt.Handle.Body
		}
	}
	return types
}

// TestRoute is a POST of JSON for tests.
type TestRoute struct {
	Pattern    string
	Public     bool
	CoachOnly  bool
	Authorize  func(context.Context, actor.Actor) error
	Idempotent bool
	Rebuild    func(idempotency.Work) (endpoint.Response, error)
	Handle     func(context.Context) (endpoint.Response, error)
}

// HandlerWith serves the routes of s and the test routes.
func (s *Server) HandlerWith(tests ...TestRoute) http.Handler {
	routes := s.routes()
	for _, t := range tests {
		rt := Route{Method: http.MethodPost, Pattern: t.Pattern, Body: endpoint.JSON}
		rt.Handle.Serve = func(ctx context.Context, _ Meta, _ endpoint.Body) (Response, error) { return t.Handle(ctx) }
		if t.Idempotent {
			rt.Handle = s.Idempotent(rt.Handle, func(_ context.Context, _ Meta, w idempotency.Work) (Response, error) { return t.Rebuild(w) })
		}
		if t.Public {
			rt.Authenticate = Anonymous
		}
		if t.CoachOnly {
			rt.Authorize = CoachOnly
		}
		if t.Authorize != nil {
			rt.Authorize = []authorize{func(ctx context.Context, caller Caller) error { return t.Authorize(ctx, caller.Actor) }}
		}
		routes = append(routes, rt)
	}
	return s.adapter.Handler(routes)
}
