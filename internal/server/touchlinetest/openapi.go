package touchlinetest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/api"
)

// ValidatingTransport returns a transport that sends requests through base
// (http.DefaultTransport if nil) and checks the status, headers, content type and
// body of each response against the OpenAPI document. A response that does not
// match fails tb; the caller gets it anyway. Bodies of event streams are not read.
//
// An undocumented path or method must be answered with a problem document.
func ValidatingTransport(tb testing.TB, base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return validatingTransport{tb, base, loadContract}
}

type validatingTransport struct {
	tb   testing.TB
	base http.RoundTripper
	load func() (*contract, error)
}

// RoundTrip implements http.RoundTripper.
func (t validatingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.tb.Helper()
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if isStream(resp) {
		t.check(req, resp, nil)
		return resp, nil
	}
	body, err := readBody(resp)
	if err != nil {
		return nil, err
	}
	resp.Body = &wholeBody{*bytes.NewReader(body), body}
	t.check(req, resp, body)
	return resp, nil
}

// CloseIdleConnections is for http.Client.CloseIdleConnections.
func (t validatingTransport) CloseIdleConnections() {
	(&http.Client{Transport: t.base}).CloseIdleConnections()
}

// wholeBody is the body of a response that was read.
type wholeBody struct {
	bytes.Reader
	content []byte
}

// Close implements io.Closer.
func (*wholeBody) Close() error { return nil }

// readBody reads the body of a response and closes it. It does not copy a wholeBody: the
// race detector makes each copy of a large file slow.
func readBody(resp *http.Response) ([]byte, error) {
	defer resp.Body.Close()
	if whole, is := resp.Body.(*wholeBody); is {
		return whole.content, nil
	}
	if resp.ContentLength <= 0 || resp.Request == nil || resp.Request.Method == http.MethodHead {
		return io.ReadAll(resp.Body)
	}
	body := make([]byte, resp.ContentLength)
	_, err := io.ReadFull(resp.Body, body)
	return body, err
}

func (t validatingTransport) check(req *http.Request, resp *http.Response, body []byte) {
	t.tb.Helper()
	c, err := t.load()
	if err == nil {
		err = c.checkResponse(req, resp, body)
	}
	if err != nil {
		t.tb.Errorf("%s %s: response %d does not match openapi.yaml: %v\n%s",
			req.Method, req.URL.Path, resp.StatusCode, err, excerpt(body))
	}
}

func (c *contract) checkResponse(req *http.Request, resp *http.Response, body []byte) (err error) {
	if body, err = decompress(resp, body); err != nil {
		return err
	}
	op, hasPath := c.operation(req.Method, req.URL.Path)
	if err := c.checkCaching(op, req, resp); err != nil {
		return err
	}
	switch {
	case op == nil && isPage(req, resp):
		return nil
	case !hasPath:
		return c.checkProblem(resp, body, http.StatusNotFound)
	case op == nil:
		if resp.StatusCode == http.StatusMethodNotAllowed && resp.Header.Get("Allow") == "" {
			return errors.New("header Allow is missing")
		}
		return c.checkProblem(resp, body, http.StatusMethodNotAllowed)
	}
	return c.check(op, req, resp, body)
}

// isPage reports whether a response is a page for people, which the document does not
// describe.
func isPage(req *http.Request, resp *http.Response) bool {
	api := strings.HasPrefix(req.URL.Path, "/auth/") || strings.HasPrefix(req.URL.Path, "/api/")
	return !api && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
}

// checkCaching requires "Cache-Control: no-store" on every response of the API,
// unless the document gives the response a Cache-Control header (the directory and
// its pictures).
func (c *contract) checkCaching(op *openapi3.Operation, req *http.Request, resp *http.Response) error {
	if !strings.HasPrefix(req.URL.Path, "/auth/") && !strings.HasPrefix(req.URL.Path, "/api/") {
		return nil
	}
	if op != nil {
		documented := op.Responses.Value(fmt.Sprint(resp.StatusCode))
		if documented != nil && documented.Value.Headers["Cache-Control"] != nil {
			return nil // checkHeaders checks it
		}
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		return fmt.Errorf("Cache-Control is %q, want no-store", got)
	}
	return nil
}

// check checks a response against the response that op documents for its status.
func (c *contract) check(op *openapi3.Operation, req *http.Request, resp *http.Response, body []byte) error {
	ref := op.Responses.Value(fmt.Sprint(resp.StatusCode))
	if ref == nil {
		return errors.New("status is not documented")
	}
	documented := ref.Value
	if err := c.checkHeaders(documented, resp.Header); err != nil {
		return err
	}
	if documented.Content == nil || req.Method == http.MethodHead {
		if len(body) > 0 {
			return errors.New("body is not documented")
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("Content-Type %q: %w", resp.Header.Get("Content-Type"), err)
	}
	media := documented.Content[kind]
	if media == nil {
		return fmt.Errorf("Content-Type %s is not documented", kind)
	}
	if !strings.HasSuffix(kind, "json") {
		return nil
	}
	if err := c.checkJSON(media.Schema, body); err != nil || kind != "application/problem+json" {
		return err
	}
	return checkCode(documented.Extensions["x-problem-codes"], body)
}

// checkCode checks the code of a problem, and the member that a client needs with it. The schema
// of all problems cannot say this: generators do not support conditions.
func checkCode(codes any, body []byte) error {
	var p map[string]any
	if err := json.Unmarshal(body, &p); err != nil {
		return err
	}
	documented, _ := codes.([]any)
	if !slices.Contains(documented, p["code"]) {
		return fmt.Errorf("code %v is not among x-problem-codes %v", p["code"], documented)
	}
	for code, member := range map[any]string{"validation_failed": "errors", "insufficient_scope": "scope"} {
		if p["code"] == code && p[member] == nil {
			return fmt.Errorf("%s has no member %s", code, member)
		}
	}
	return nil
}

// checkProblem checks a response to an undocumented operation: it must be a problem
// document with this status, or with 429 or 5xx, which middleware sends before
// routing.
func (c *contract) checkProblem(resp *http.Response, body []byte, status int) error {
	fromMiddleware := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500
	if resp.StatusCode != status && !fromMiddleware {
		return fmt.Errorf("operation is not documented: want status %d", status)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/problem+json" {
		return fmt.Errorf("Content-Type is %q, want a problem document", kind)
	}
	if resp.Request != nil && resp.Request.Method == http.MethodHead {
		return nil
	}
	return c.checkJSON(c.document.Components.Schemas["Problem"], body)
}

// decompress returns body without gzip.
func decompress(resp *http.Response, body []byte) ([]byte, error) {
	if resp.Header.Get("Content-Encoding") != "gzip" || len(body) == 0 {
		return body, nil
	}
	zr, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(zr)
}

func isStream(resp *http.Response) bool {
	return strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
}

// excerpt returns the start of body for a failure message.
func excerpt(body []byte) string {
	const limit = 2000
	if len(body) > limit {
		return string(body[:limit]) + "…"
	}
	return string(body)
}

// loadContract and loadAdminContract parse each document once per process.
var (
	loadContract      = sync.OnceValues(func() (*contract, error) { return newContract(api.Document) })
	loadAdminContract = sync.OnceValues(func() (*contract, error) { return newContract(admin.Document) })
)
