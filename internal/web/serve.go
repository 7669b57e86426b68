package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/bodies"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/httpx"
	"github.com/touchline/touchline/internal/platform/ratelimit"
)

const (
	// timeout limits the time of a request. A stream has none.
	timeout = 10 * time.Second
	// maxForm limits the body of a form, in bytes.
	maxForm = 64 << 10
)

// serve returns the handler of the pages of one pattern.
func (p *Pages) serve(m *httpx.Middleware, pattern string, methods map[string]Route) http.Handler {
	if get, ok := methods[http.MethodGet]; ok {
		methods[http.MethodHead] = get
	}
	var allow []string
	for method := range methods {
		allow = append(allow, method)
	}
	slices.Sort(allow)
	route := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpx.InfoFrom(r.Context()).Route = pattern
		_, hasPage := methods[http.MethodGet]
		rt, ok := methods[r.Method]
		if !ok {
			w.Header().Set("Allow", strings.Join(allow, ", "))
			p.write(w, r, &Request{Request: r, Language: p.language(r), hasPage: hasPage}, Response{}, fault.New(fault.MethodNotAllowed, "method_not_allowed", "This page takes %s.", strings.Join(allow, ", ")))
			return
		}
		p.respond(w, r, rt, hasPage)
	})
	compressed := compress()(route)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := new(httpx.RequestInfo)
		next := http.Handler(compressed)
		if rt := methods[r.Method]; rt.Stream || rt.Upload {
			info.Stream, next = rt.Stream, route
		}
		m.Serve(w, r.WithContext(httpx.WithInfo(r.Context(), info)), info, next)
	})
}

// respond makes the checks that come before a handler, calls it and writes its response. hasPage
// says that the path also has a page.
func (p *Pages) respond(w http.ResponseWriter, r *http.Request, rt Route, hasPage bool) {
	req := &Request{Request: r, Language: p.language(r), Address: ratelimit.Address(r, p.TrustedProxies), hasPage: hasPage, w: w}
	resp, err := p.handle(w, req, rt)
	p.write(w, r, req, resp, err)
}

func (p *Pages) handle(w http.ResponseWriter, req *Request, rt Route) (resp Response, err error) {
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if p.Limiter != nil {
		if err := p.Limiter.Allow(req.Address, p.Now()); err != nil {
			return Response{}, err
		}
	}
	slot, err := p.InFlight.For(req.Method).Acquire(rt.Urgent)
	if err != nil {
		return Response{}, err
	}
	defer func() { slot.Release() }()
	// The handler of a form with a file checks the account of the form; other handlers rely on
	// the fields that readForm reads.
	if req.isMultipart() && !rt.Upload && !rt.Multipart {
		return Response{}, fault.New(fault.Malformed, "malformed_request", "This form could not be read. Open the page again.")
	}
	if err := p.origin.Check(req.Request); err != nil {
		return Response{}, fault.New(fault.Forbidden, "cross_origin", "This form was sent from another site. Open the page again and send it from there.").Because(err)
	}
	untimed := req.Request
	ctx := req.Context()
	if !rt.Stream {
		timed, cancel := httpx.WithTimeout(untimed, timeout)
		defer cancel()
		req.Request, ctx = timed, timed.Context()
	}
	if err := p.identify(ctx, req); err != nil {
		return Response{}, err
	}
	switch {
	case rt.Stream:
		slot.Release()
	case rt.Upload: // the handler reads the form under the limits of package upload
		slot.Release()
		req.Request, ctx = untimed, untimed.Context()
	case req.Method == http.MethodPost && !req.isMultipart():
		slot.Release() // a slot is for work, not for waiting for the client
		limit := rt.maxForm(req)
		body, err := p.readForm(req, limit)
		defer body.Release()
		if fault.KindOf(err) == fault.TooLarge && limit < rt.LargeForm {
			req.Form, err = url.Values{}, nil // the handler leads to the sign-in
		}
		if err != nil {
			return Response{}, err
		}
		slot = p.InFlight.For(req.Method).Reenter()
		timed, cancel := httpx.WithTimeout(req.Request, timeout) // without the time that the client took to send the form
		defer cancel()
		req.Request, ctx = timed, timed.Context()
	default:
		req.Form = validQuery(req.URL.Query())
	}
	resp, err = rt.Handle(ctx, req)
	if err == nil {
		err = p.readCounts(ctx, resp.View)
	}
	return resp, err
}

// maxForm limits the body of a form that is not an upload, in bytes. It is 64 KiB for strangers.
func (rt *Route) maxForm(r *Request) int64 {
	if _, ok := r.Actor(actor.Coach); ok && rt.LargeForm > 0 {
		return rt.LargeForm
	}
	return maxForm
}

// readForm reads a form of at most limit bytes. The caller releases its body.
func (p *Pages) readForm(r *Request, limit int64) (*bodies.Body, error) {
	body, err := p.Bodies.Read(r.holder(), r.Body, r.ContentLength, limit)
	if err != nil {
		r.w.Header().Set("Connection", "close") // the body was not read to its end
		return body, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body.Bytes))
	if err := r.ParseForm(); err != nil || !isText(r.PostForm) {
		return body, fault.New(fault.Malformed, "malformed_request", "This form could not be read. Open the page again.").Because(err)
	}
	r.Form = r.PostForm
	return body, nil
}

// holder returns the caller whose body is read: one of the accounts of the browser.
func (r *Request) holder() bodies.Holder {
	for _, role := range actor.Roles {
		if s := r.Sessions[role]; s != nil {
			return bodies.Holder{AccountID: s.AccountID}
		}
	}
	if r.Operator != nil {
		return bodies.Holder{AccountID: r.Operator.Token.ID}
	}
	return bodies.Holder{Address: r.Address}
}

// isText reports whether every name and value is UTF-8 without NUL, as browsers send it.
// Forms show their fields again, and a page must be valid. PostgreSQL refuses NUL.
func isText(form url.Values) bool {
	valid := func(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }
	for name, values := range form {
		if !valid(name) || slices.ContainsFunc(values, func(v string) bool { return !valid(v) }) {
			return false
		}
	}
	return true
}

// validQuery returns a query, or an empty one if it is not text.
func validQuery(query url.Values) url.Values {
	if !isText(query) {
		return url.Values{}
	}
	return query
}

func (r *Request) isMultipart() bool {
	return strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/")
}

func notFound(context.Context, *Request) (Response, error) { return Response{}, fault.Missing() }

// withoutSlash leads from a path with a slash at its end to the page without one.
func withoutSlash(ctx context.Context, r *Request) (Response, error) {
	path := strings.TrimRight(r.URL.EscapedPath(), "/")
	if path == r.URL.EscapedPath() || LocalPath(path) != path {
		return notFound(ctx, r)
	}
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	return Redirect(path).With(http.StatusPermanentRedirect), nil
}
