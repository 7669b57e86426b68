package httpx

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/fault"
)

// Handler answers a request or returns why not; the edge then writes the problem.
// It writes nothing before it knows that it can answer.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Route is one operation.
type Route struct {
	Method string
	// Pattern is the path as ServeMux writes it.
	Pattern string
	Handle  Handler
}

// Router returns what finds the operation for a path and a method. HEAD is GET's,
// OPTIONS answers what there is. absent answers all other paths; of returns the
// exchange of a request.
func (e *Edge) Router(routes []Route, absent Handler, of func(*http.Request) *Exchange) http.Handler {
	resources := map[string]*resource{}
	for _, rt := range routes {
		if resources[rt.Pattern] == nil {
			resources[rt.Pattern] = &resource{pattern: rt.Pattern, methods: map[string]Handler{}}
		}
		resources[rt.Pattern].add(rt)
	}
	finish := func(pattern string, h Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			x := of(r)
			x.Route = pattern
			if err := h(w, r); err != nil {
				e.Problem(w, r, x, err)
			}
		})
	}
	mux := http.NewServeMux()
	for pattern, res := range resources {
		mux.Handle(pattern, finish(pattern, res.answer))
	}
	nowhere := finish("", absent)
	mux.Handle("/", nowhere)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux would redirect a path that is not clean, but nothing is there.
		if !clean(r.URL.EscapedPath()) {
			nowhere.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func clean(p string) bool {
	c := path.Clean(p)
	return p == c || c != "/" && p == c+"/"
}

// resource is one path, with its operations by method.
type resource struct {
	pattern string
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

func (res *resource) answer(w http.ResponseWriter, r *http.Request) error {
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
