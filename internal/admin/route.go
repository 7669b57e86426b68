package admin

import (
	"cmp"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/httpx"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/wire"
)

// maxBody bounds a body, in bytes (contract section 1).
const maxBody = 64 << 10

// route is one operation. Its zero options are the common case: without a body,
// answering JSON.
type route struct {
	method  string
	pattern string // as ServeMux writes paths
	// scope is what the token must have; the empty one asks for no token.
	scope    operator.Scope
	body     bodyKind
	produces string // application/json where it is empty, anyMedia for no question
	// limit is how long it may take; 0 is timeLimit.
	limit  time.Duration
	handle httpx.Handler
}

const anyMedia = "*/*"

// bodyKind is what a call wants as its body.
type bodyKind int

const (
	bodyNone bodyKind = iota // whatever is sent is not looked at
	bodyJSON
	bodyForm // application/x-www-form-urlencoded
)

// routes lists every operation.
func (s *Server) routes() []route {
	return []route{
		{method: "POST", pattern: "/auth/introspect", scope: operator.Introspect, body: bodyForm, handle: s.introspect},
		{method: "POST", pattern: "/auth/revoke", scope: operator.Introspect, body: bodyForm, produces: anyMedia, handle: s.revoke},
		{method: "GET", pattern: "/api/admin/kyc", scope: operator.KYC, handle: s.listKYC},
		{method: "GET", pattern: "/api/admin/kyc/{coach_id}", scope: operator.KYC, handle: s.kyc},
		{method: "GET", pattern: "/api/admin/kyc/{coach_id}/documents/{document_id}/content", scope: operator.KYC, produces: anyMedia, limit: httpx.FileTimeout, handle: s.kycDocument},
		{method: "POST", pattern: "/api/admin/kyc/{coach_id}/approve", scope: operator.KYC, body: bodyJSON, handle: s.approveKYC},
		{method: "POST", pattern: "/api/admin/kyc/{coach_id}/reject", scope: operator.KYC, body: bodyJSON, handle: s.rejectKYC},
		{method: "POST", pattern: "/api/admin/coaches/search", scope: operator.Coaches, body: bodyJSON, handle: s.findCoaches},
		{method: "GET", pattern: "/api/admin/coaches/{coach_id}", scope: operator.Coaches, handle: s.coach},
		{method: "PUT", pattern: "/api/admin/coaches/{coach_id}/tier", scope: operator.Coaches, body: bodyJSON, handle: s.setTier},
		{method: "POST", pattern: "/api/admin/coaches/{coach_id}/suspend", scope: operator.Coaches, body: bodyJSON, handle: s.suspend},
		{method: "POST", pattern: "/api/admin/coaches/{coach_id}/restore", scope: operator.Coaches, handle: s.restore},
		{method: "GET", pattern: "/api/admin/audit", scope: operator.Audit, handle: s.audit},
		{method: "GET", pattern: "/metrics", scope: operator.Metrics, produces: anyMedia, handle: s.metrics},
		{method: "GET", pattern: "/.well-known/oauth-authorization-server", produces: anyMedia, handle: s.metadata},
		{method: "GET", pattern: "/openapi.json", produces: anyMedia, handle: s.openAPI},
		{method: "GET", pattern: "/healthz", produces: anyMedia, handle: s.healthz},
		{method: "GET", pattern: "/readyz", produces: anyMedia, handle: s.readyz},
	}
}

// call is what is known of the request that is being answered.
type call struct {
	httpx.RequestInfo
	token *operator.Token

	body   any // JSON, parsed
	form   url.Values
	faults wire.Faults
}

type callKey struct{}

func callOf(r *http.Request) *call { return r.Context().Value(callKey{}).(*call) }

// answer makes the checks that come before the handler, in the order of the
// contract's section 1, and then calls it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, rt *route) error {
	r, cancel := httpx.WithTimeout(r, cmp.Or(rt.limit, timeLimit))
	defer cancel()
	c := callOf(r)
	if err := s.signIn(r, rt, c); err != nil {
		return err
	}
	if err := c.read(w, r, rt); err != nil {
		return err
	}
	return rt.handle(w, r)
}

// read reads the body and judges what was sent and what shall be answered: 413,
// 415, 406, 400, in this order.
func (c *call) read(w http.ResponseWriter, r *http.Request, rt *route) error {
	var raw []byte
	var err error
	if rt.body != bodyNone {
		if raw, err = wire.ReadAll(w, r, maxBody); err != nil {
			return err
		}
		if want := rt.body.media(); !sent(r.Header, want) {
			return fault.New(fault.UnsupportedMedia, "unsupported_media_type", "Send the body as %s, without a Content-Encoding.", want)
		}
	}
	produces := rt.produces
	if produces == "" {
		produces = "application/json"
	}
	if produces != anyMedia && !wire.Acceptable(r.Header, produces) {
		return fault.New(fault.NotAcceptable, "not_acceptable", "This call answers %s, which the Accept header does not admit.", produces)
	}
	switch rt.body {
	case bodyJSON:
		c.body, err = wire.Parse(raw, &c.faults)
	case bodyForm:
		if c.form, err = url.ParseQuery(string(raw)); err != nil {
			err = errForm("The body is no form.")
		}
	}
	return err
}

func (b bodyKind) media() string {
	if b == bodyForm {
		return "application/x-www-form-urlencoded"
	}
	return "application/json"
}

// sent says whether the Content-Type is this media type, in UTF-8.
func sent(h http.Header, mediaType string) bool {
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return false
	}
	name, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, has := parameters["charset"]
	return err == nil && name == mediaType && (!has || strings.EqualFold(charset, "utf-8"))
}

// decode binds the JSON body to a struct, and answers every fault.
func decode[T any](r *http.Request) (T, error) {
	var into T
	c := callOf(r)
	wire.Bind(c.body, &into, &c.faults)
	return into, c.faults.Err()
}

// pathID returns an identifier in the path. What is no identifier names nothing.
func pathID(r *http.Request, name string) (string, error) {
	id := r.PathValue(name)
	if !isID(id) {
		return "", fault.Missing()
	}
	return id, nil
}
