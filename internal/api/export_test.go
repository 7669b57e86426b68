package api

import (
	"context"
	"net/http"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/wire"
)

// What the tests see of the adapter, as package api itself sees it.
var (
	IdempotencyKey = idempotencyKey
	IsID           = isID
)

// AcceptsJSON and AcceptsEvents judge Accept headers.
func AcceptsJSON(h http.Header) bool   { return acceptable(h, mediaJSON) }
func AcceptsEvents(h http.Header) bool { return acceptable(h, mediaEvents) }

// Decode reads a body as the adapter and a handler do together.
func Decode[T any](raw []byte) (T, []fault.Field, error) {
	c := &call{raw: raw}
	var zero T
	var err error
	if c.value, err = wire.Parse(raw, (*wire.Faults)(&c.faults)); err != nil {
		return zero, nil, err
	}
	r, _ := http.NewRequestWithContext(context.WithValue(context.Background(), callKey{}, c), http.MethodPost, "/", http.NoBody)
	in, f := decode[T](r)
	return in, f, nil
}

// Digits reads an OTP.
func Digits(typed string) (string, bool) {
	var f faults
	otp := digits(typed, "/otp", &f)
	return otp, len(f) == 0
}

// Cursor makes a cursor of a list for a caller; OpenCursor reads one.
func Cursor(v *auth.Vault, scope, id string, seq int64) string {
	return page{scope: scope, vault: v}.cursor(keyset{ID: id, Seq: seq})
}

func OpenCursor(v *auth.Vault, scope, cursor string) (id string, seq int64, ok bool) {
	k, ok := page{scope: scope, vault: v}.open(cursor)
	return k.ID, k.Seq, ok
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
