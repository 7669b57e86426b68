package api

import (
	"context"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/wall"
)

// timeLimit is how long a call may take.
const timeLimit = 10 * time.Second

// Handler returns the handler of every operation. It must be made once: the
// wall per address is shared by all that it returns.
func (s *Server) Handler() http.Handler { return s.serve(s.routes()) }

func (s *Server) serve(routes []route) http.Handler {
	resources := map[string]*resource{}
	for _, rt := range routes {
		if resources[rt.pattern] == nil {
			resources[rt.pattern] = &resource{server: s, pattern: rt.pattern, routes: map[string]*route{}}
		}
		resources[rt.pattern].add(rt)
	}
	mux := http.NewServeMux()
	for pattern, res := range resources {
		mux.Handle(pattern, res)
	}
	absent := s.finish(func(w http.ResponseWriter, r *http.Request) error {
		if err := s.climb(r); err != nil {
			return err
		}
		return fault.Missing()
	})
	mux.Handle("/", absent)
	return s.around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would redirect a path that is not clean, but nothing is there.
		if !clean(r.URL.EscapedPath()) {
			absent.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// around gives every request what all get, found or not.
func (s *Server) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := new(call)
		s.edge.Serve(w, r.WithContext(context.WithValue(r.Context(), callKey{}, c)), &c.Exchange, next)
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
	s.edge.Problem(w, r, &callOf(r.Context()).Exchange, err)
}

// client returns the network to which a request is counted.
func (s *Server) client(r *http.Request) string { return wall.Address(r, s.proxies) }

// climb answers rate_limited once the caller's address has made too many requests.
func (s *Server) climb(r *http.Request) error { return s.wall.Climb(s.client(r), s.now()) }

func clean(p string) bool {
	c := path.Clean(p)
	return p == c || c != "/" && p == c+"/"
}

// resource is one path, with its operations by method.
type resource struct {
	server  *Server
	pattern string
	routes  map[string]*route
	allow   string
}

func (res *resource) add(rt route) {
	res.routes[rt.method] = &rt
	if rt.method == http.MethodGet {
		res.routes[http.MethodHead] = &rt
	}
	methods := []string{http.MethodOptions}
	for method := range res.routes {
		methods = append(methods, method)
	}
	slices.Sort(methods)
	res.allow = strings.Join(methods, ", ")
}

// ServeHTTP makes the checks that come before the handler, in the order of the
// contract's section 1, and then calls it.
func (res *resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := res.answer(w, r); err != nil {
		res.server.problem(w, r, err)
	}
}

func (res *resource) answer(w http.ResponseWriter, r *http.Request) error {
	s, c := res.server, callOf(r.Context())
	c.Route = res.pattern
	rt := res.routes[r.Method]
	if rt == nil {
		w.Header().Set("Allow", res.allow)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return fault.New(fault.MethodNotAllowed, "method_not_allowed", "This address takes %s.", res.allow)
	}
	if !rt.unwalled {
		if err := s.climb(r); err != nil {
			return err
		}
	}
	if !rt.endless {
		ctx, cancel := context.WithTimeout(r.Context(), timeLimit)
		defer cancel()
		r = r.WithContext(ctx)
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
	if rt.once {
		return s.keyed(w, r, c.by, rt.handle)
	}
	return rt.handle(w, r)
}

// admit asks for the role, then at the gates.
func (rt *route) admit(ctx context.Context, by actor.Actor) error {
	if len(rt.roles) > 0 && !slices.Contains(rt.roles, by.Role) {
		return fault.New(fault.Forbidden, "role_not_allowed", "This call is not for the role in which you are signed in.")
	}
	for _, gate := range rt.gates {
		if err := gate(ctx, by); err != nil {
			return err
		}
	}
	return nil
}
