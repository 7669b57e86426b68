package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/ratelimit"
)

// timeLimit is how long a call may take, unless its route says otherwise.
const timeLimit = 10 * time.Second

// Handler returns the handler of every operation. It must be made once: the
// rate limiter per address is shared by all that it returns.
func (s *Server) Handler() http.Handler { return s.serve(s.routes()) }

func (s *Server) serve(routes []route) http.Handler {
	all := make([]httpx.Route, len(routes))
	for i := range routes {
		rt := &routes[i]
		all[i] = httpx.Route{Method: rt.method, Pattern: rt.pattern, Handle: func(w http.ResponseWriter, r *http.Request) error {
			return s.answer(w, r, rt)
		}}
	}
	absent := func(_ http.ResponseWriter, r *http.Request) error {
		if err := s.allow(r); err != nil {
			return err
		}
		return fault.Missing()
	}
	return s.around(s.middleware.Router(all, absent, func(r *http.Request) *httpx.RequestInfo { return &callOf(r.Context()).RequestInfo }))
}

// around gives every request what all get, found or not.
func (s *Server) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := new(call)
		s.middleware.Serve(w, r.WithContext(context.WithValue(r.Context(), callKey{}, c)), &c.RequestInfo, next)
	})
}

// finish calls h and writes what it returns as a problem.
func (s *Server) finish(h handlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.problem(w, r, err)
		}
	})
}

// problem writes err as a problem document.
func (s *Server) problem(w http.ResponseWriter, r *http.Request, err error) {
	s.middleware.WriteProblem(w, r, &callOf(r.Context()).RequestInfo, err)
}

// client returns the network to which a request is counted.
func (s *Server) client(r *http.Request) string { return ratelimit.Address(r, s.proxies) }

// allow answers rate_limited once the caller's address has made too many requests.
func (s *Server) allow(r *http.Request) error { return s.limiter.Allow(s.client(r), s.now()) }

// answer makes the checks that come before the handler, in the order of the
// contract's section 1, and then calls it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, rt *route) error {
	c := callOf(r.Context())
	if !rt.noRateLimit {
		if err := s.allow(r); err != nil {
			return err
		}
	}
	whole := r
	if !rt.endless {
		within, cancel := httpx.WithTimeout(r, cmp.Or(rt.limit, timeLimit))
		defer cancel()
		r = within
	}
	if err := s.signIn(r, rt, c); err != nil {
		return err
	}
	if err := rt.admit(r.Context(), c.by); err != nil {
		return err
	}
	if err := s.read(w, r, rt, c); err != nil {
		return err
	}
	if rt.body == bodyForm {
		return rt.handle(w, whole) // it takes its own time, and ends when the caller leaves
	}
	if rt.once {
		return s.keyed(w, r, c.by, rt.handle)
	}
	return rt.handle(w, r)
}

func errRole() error {
	return fault.New(fault.Forbidden, "role_not_allowed", "This call is not for the role in which you are signed in.")
}

// admit asks for the role, then at the gates.
func (rt *route) admit(ctx context.Context, by actor.Actor) error {
	if len(rt.roles) > 0 && !slices.Contains(rt.roles, by.Role) {
		return errRole()
	}
	for _, gate := range rt.gates {
		if err := gate(ctx, by); err != nil {
			return err
		}
	}
	return nil
}
