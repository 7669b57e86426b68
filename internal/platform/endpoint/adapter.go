package endpoint

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/touchline/touchline/internal/platform/bodies"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/inflight"
	"github.com/touchline/touchline/internal/platform/ratelimit"
)

// Adapter makes the checks that come before a handler.
type Adapter[C any] struct {
	Middleware httpx.Middleware
	// Authenticate returns the caller of a request.
	Authenticate func(*http.Request) (C, error)
	// Identify sets the ids of the caller in the RequestInfo; nil sets none.
	Identify func(C, *httpx.RequestInfo)
	// Limiter limits the requests per client address; nil means no limit.
	Limiter *ratelimit.Limiter
	// InFlight limits the requests that are handled at the same time; nil means no limit.
	InFlight *inflight.Limits
	// Bodies bounds the memory of bodies; nil means no limit.
	Bodies *bodies.Memory
	// CrossOrigin wraps every route; nil does not. See httpx.CrossOrigin.
	CrossOrigin func(http.Handler) http.Handler
	// NotFoundPage serves browsers that ask for a path without a route outside /api and /auth;
	// nil means the problem document.
	NotFoundPage http.HandlerFunc
}

func infoOf(r *http.Request) *httpx.RequestInfo { return httpx.InfoFrom(r.Context()) }

// Handler returns the handler of all routes.
func (a *Adapter[C]) Handler(routes []Route[C]) http.Handler {
	all := make([]httpx.Route, len(routes))
	for i := range routes {
		rt := &routes[i]
		all[i] = httpx.Route{Method: rt.Method, Pattern: rt.Pattern, Handle: func(w http.ResponseWriter, r *http.Request) error {
			return a.serve(w, r, rt)
		}}
	}
	notFound := func(w http.ResponseWriter, r *http.Request) error {
		if err := a.allow(ratelimit.Address(r, a.Middleware.TrustedProxies)); err != nil {
			return err
		}
		if a.NotFoundPage != nil && isForBrowser(r) {
			a.NotFoundPage(w, r)
			return nil
		}
		return fault.Missing()
	}
	router := a.Middleware.Router(all, notFound, infoOf)
	if a.CrossOrigin != nil {
		router = a.CrossOrigin(router)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := new(httpx.RequestInfo)
		a.Middleware.Serve(w, r.WithContext(httpx.WithInfo(r.Context(), info)), info, router)
	})
}

// isForBrowser reports whether a person, not a program, asks for the path.
func isForBrowser(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html") &&
		!strings.HasPrefix(r.URL.Path, "/api/") && !strings.HasPrefix(r.URL.Path, "/auth/")
}

// allow returns rate_limited if the client has made too many requests.
func (a *Adapter[C]) allow(client string) error {
	if a.Limiter == nil {
		return nil
	}
	return a.Limiter.Allow(client, a.Middleware.Now())
}

// serve makes the checks in the order of api/openapi.yaml, section Problems, calls the
// handler and writes its response.
func (a *Adapter[C]) serve(w http.ResponseWriter, r *http.Request, rt *Route[C]) error {
	infoOf(r).Client = ratelimit.Address(r, a.Middleware.TrustedProxies)
	rt.Deprecated.setHeaders(w.Header())
	slot, err := a.admit(r, rt)
	if err != nil {
		if rt.Body.isUpload() {
			closeConnection(w)
		}
		return err
	}
	defer func() { slot.Release() }() // the value of slot at the end
	untimed := r
	infoOf(r).Stream = rt.NoTimeout
	timeout := cmp.Or(rt.Timeout, defaultTimeout)
	if !rt.NoTimeout {
		timed, cancel := httpx.WithTimeout(r, timeout)
		defer cancel()
		r = timed
	}
	m := a.meta(untimed)
	m.Caller, err = a.authorizedCaller(r, rt)
	if err != nil {
		return err
	}
	// A slot is for work, not for waiting for the client.
	takesBody := rt.takesBody(r)
	if takesBody {
		slot.Release()
	}
	body, release, err := a.readBody(w, r, rt)
	defer release()
	if err != nil {
		return err
	}
	switch {
	case rt.Body.isUpload() || rt.NoTimeout: // uploads and streams have other limits
		slot.Release()
	case takesBody && !rt.NoLimits:
		slot = a.InFlight.For(r.Method).Reenter()
	}
	if rt.Acquire != nil {
		release, err := rt.Acquire(r.Context(), m.Caller)
		if err != nil {
			if rt.Body.isUpload() {
				closeConnection(w)
			}
			return err
		}
		defer release()
	}
	switch {
	case rt.Body.isUpload():
		r = untimed
	case takesBody && !rt.NoTimeout: // the time that the client took to send the body does not count
		timed, cancel := httpx.WithTimeout(untimed, timeout)
		defer cancel()
		r = timed
	}
	resp, err := rt.handle(r.Context(), m, body)
	if resp.Write == nil || resp.Download || rt.Timeout > defaultTimeout { // a page does its work while it is written
		slot.Release()
	}
	return resp.write(w, r, err)
}

// authorizedCaller returns the caller of a request, or an error if the caller may not use the
// route.
func (a *Adapter[C]) authorizedCaller(r *http.Request, rt *Route[C]) (caller C, err error) {
	authenticate := a.Authenticate
	if rt.Authenticate != nil {
		authenticate = rt.Authenticate
	}
	caller, err = authenticate(r)
	if err != nil {
		return caller, err
	}
	if a.Identify != nil {
		a.Identify(caller, infoOf(r))
	}
	for _, authorize := range rt.Authorize {
		if err := authorize(r.Context(), caller); err != nil {
			return caller, err
		}
	}
	return caller, nil
}

// admit checks the limits that come before authentication. The caller must release the
// slot.
func (a *Adapter[C]) admit(r *http.Request, rt *Route[C]) (inflight.Slot, error) {
	if rt.NoLimits {
		return inflight.Slot{}, nil
	}
	if err := a.allow(infoOf(r).Client); err != nil {
		return inflight.Slot{}, err
	}
	return a.InFlight.For(r.Method).Acquire(rt.Urgent)
}

func (a *Adapter[C]) meta(r *http.Request) Meta[C] {
	info := infoOf(r)
	m := Meta[C]{
		Method: r.Method, Path: r.URL.Path, Route: info.Route, TraceID: info.TraceID, Header: r.Header,
		Client: info.Client, BaseURL: a.scheme(r) + "://" + r.Host,
		http: r, middleware: &a.Middleware,
	}
	if r.URL.RawQuery != "" {
		m.Query, _ = url.ParseQuery(r.URL.RawQuery) // without its invalid parts; see queryFaults
	}
	return m
}

// scheme returns the scheme with which the client reached this listener, http if it is unknown.
func (a *Adapter[C]) scheme(r *http.Request) string {
	return cmp.Or(a.Middleware.Scheme(r), "http")
}
