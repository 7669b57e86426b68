package api

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/actor"
)

// What the tests see of the adapter, as package api itself sees it.
var (
	IdempotencyKey = idempotencyKey
	IsID           = isID
)

// Digits reads an OTP.
func Digits(typed string) (string, bool) {
	var f faults
	otp := digits(typed, "/otp", &f)
	return otp, len(f) == 0
}

// Probe is a route for tests.
type Probe struct {
	Pattern      string
	Open         bool
	CoachOnly    bool
	Gate         func(context.Context, actor.Actor) error
	Once         bool
	HandleFaults func(w http.ResponseWriter, r *http.Request) error
}

// HandlerWith serves the routes of s and the probes, which are POSTs of JSON.
func (s *Server) HandlerWith(probes ...Probe) http.Handler {
	routes := s.routes()
	for _, p := range probes {
		rt := route{method: http.MethodPost, pattern: p.Pattern, handle: p.HandleFaults, body: bodyJSON, once: p.Once}
		if p.Open {
			rt.access = open
		}
		if p.CoachOnly {
			rt.roles = coachOnly
		}
		if p.Gate != nil {
			rt.gates = []gate{p.Gate}
		}
		routes = append(routes, rt)
	}
	return s.serve(routes)
}

// About is about, Created is created.
var (
	About   = about
	Created = func(w http.ResponseWriter, location string, v any) error { return created(w, location, v) }
)
