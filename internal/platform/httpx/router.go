package httpx

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/platform/fault"
)

// Handler writes a response, or returns an error that the router writes as a problem
// document. A handler that returns an error has written nothing.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Route is one operation.
type Route struct {
	Method string
	// Pattern is the path, in the syntax of Mux.
	Pattern string
	Handle  Handler
}

// Router returns a handler that calls the route of a path and a method. A GET route
// serves HEAD too, and OPTIONS lists the methods of a path. notFound serves all other
// paths. infoOf returns the RequestInfo of a request.
func (m *Middleware) Router(routes []Route, notFound Handler, infoOf func(*http.Request) *RequestInfo) http.Handler {
	resources := map[string]*resource{}
	for _, rt := range routes {
		if resources[rt.Pattern] == nil {
			resources[rt.Pattern] = &resource{methods: map[string]Handler{}}
		}
		resources[rt.Pattern].add(rt)
	}
	wrap := func(pattern string, h Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info := infoOf(r)
			info.Route = pattern
			if err := h(w, r); err != nil {
				m.WriteProblem(w, r, info, err)
			}
		})
	}
	notFoundHandler := wrap("", notFound)
	mux := NewMux(notFoundHandler)
	for pattern, res := range resources {
		mux.Handle(pattern, wrap(pattern, res.serve))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// ServeMux redirects a path that is not clean; the service answers 404.
		if !IsClean(r.URL.EscapedPath()) {
			notFoundHandler.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// IsClean reports whether a path has no empty segment and no dots, so that http.ServeMux does
// not redirect it.
func IsClean(p string) bool {
	cleaned := path.Clean(p)
	return p == cleaned || cleaned != "/" && p == cleaned+"/"
}

// resource is one path with its handlers by method.
type resource struct {
	methods map[string]Handler
	allow   string
}

func (res *resource) add(rt Route) {
	res.methods[rt.Method] = rt.Handle
	if rt.Method == http.MethodGet {
		res.methods[http.MethodHead] = rt.Handle
	}
	methods := []string{http.MethodOptions}
	for method := range res.methods {
		methods = append(methods, method)
	}
	slices.Sort(methods)
	res.allow = strings.Join(methods, ", ")
}

func (res *resource) serve(w http.ResponseWriter, r *http.Request) error {
	if h := res.methods[r.Method]; h != nil {
		return h(w, r)
	}
	w.Header().Set("Allow", res.allow)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return fault.New(fault.MethodNotAllowed, "method_not_allowed", "This address takes %s.", res.allow)
}
