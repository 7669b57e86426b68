package touchlinetest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/api"
)

// ValidatingTransport wraps base (http.DefaultTransport where it is nil) so
// that every answer is held against the OpenAPI document: its status, headers,
// content type and body. An answer that the document does not promise fails tb
// and is handed on all the same. The body of an event stream is not touched.
//
// A path or a method that the document does not have must be answered by a
// problem document.
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

// RoundTrip sends req by the base and checks what comes back.
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
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	t.check(req, resp, body)
	return resp, nil
}

// CheckAnswer fails tb where the document of the public listener does not promise
// that req is answered by resp with body.
func CheckAnswer(tb testing.TB, req *http.Request, resp *http.Response, body []byte) {
	tb.Helper()
	validatingTransport{tb, nil, loadContract}.check(req, resp, body)
}

func (t validatingTransport) check(req *http.Request, resp *http.Response, body []byte) {
	t.tb.Helper()
	c, err := t.load()
	if err == nil {
		err = c.checkAnswer(req, resp, body)
	}
	if err != nil {
		t.tb.Errorf("%s %s: answer %d is not as openapi.yaml says: %v\n%s",
			req.Method, req.URL.Path, resp.StatusCode, err, excerpt(body))
	}
}

func (c *contract) checkAnswer(req *http.Request, resp *http.Response, body []byte) (err error) {
	if body, err = plain(resp, body); err != nil {
		return err
	}
	op, found := c.operation(req.Method, req.URL.Path)
	if err := c.checkCaching(op, found, req, resp); err != nil {
		return err
	}
	switch {
	case !found.path:
		return c.checkProblem(resp, body, http.StatusNotFound)
	case !found.method:
		if resp.StatusCode == http.StatusMethodNotAllowed && resp.Header.Get("Allow") == "" {
			return errors.New("there is no Allow header")
		}
		return c.checkProblem(resp, body, http.StatusMethodNotAllowed)
	}
	return c.check(op, req, resp, body)
}

// checkCaching lets nothing of the API be kept but what the document says may be:
// the directory and its pictures.
func (c *contract) checkCaching(op pointer, found found, req *http.Request, resp *http.Response) error {
	if !strings.HasPrefix(req.URL.Path, "/auth/") && !strings.HasPrefix(req.URL.Path, "/api/") {
		return nil
	}
	if found.method {
		response, _ := c.follow(op.to("responses", fmt.Sprint(resp.StatusCode)))
		if _, documented := c.get(response.to("headers", "Cache-Control")); response != nil && documented {
			return nil // checkHeaders looks at it
		}
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		return fmt.Errorf("Cache-Control is %q, want no-store", got)
	}
	return nil
}

// check holds an answer against the response that op documents for its status.
func (c *contract) check(op pointer, req *http.Request, resp *http.Response, body []byte) error {
	documented, ok := c.follow(op.to("responses", fmt.Sprint(resp.StatusCode)))
	if !ok {
		return errors.New("the status is not documented")
	}
	if err := c.checkHeaders(documented, resp.Header); err != nil {
		return err
	}
	content, ok := c.follow(documented.to("content"))
	if !ok || req.Method == http.MethodHead {
		if len(body) > 0 {
			return errors.New("there is a body, but none is documented")
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("Content-Type %q: %w", resp.Header.Get("Content-Type"), err)
	}
	media, ok := c.follow(content.to(kind))
	if !ok {
		return fmt.Errorf("Content-Type %s is not documented", kind)
	}
	if !strings.HasSuffix(kind, "json") {
		return nil
	}
	return c.checkJSON(media.to("schema"), body)
}

// checkProblem holds an answer outside any operation against the shared schema
// of problems. Checks that come before routing may answer in place of status.
func (c *contract) checkProblem(resp *http.Response, body []byte, status int) error {
	early := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500
	if resp.StatusCode != status && !early {
		return fmt.Errorf("the document has no such operation, so the status must be %d", status)
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/problem+json" {
		return fmt.Errorf("Content-Type is %q, want a problem document", kind)
	}
	if resp.Request != nil && resp.Request.Method == http.MethodHead {
		return nil
	}
	return c.checkJSON(pointer{"components", "schemas", "Problem"}, body)
}

// plain undoes the compression of body.
func plain(resp *http.Response, body []byte) ([]byte, error) {
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

// excerpt is as much of a body as helps to see what is wrong.
func excerpt(body []byte) string {
	const most = 2000
	if len(body) > most {
		return string(body[:most]) + "…"
	}
	return string(body)
}

// loadContract and loadAdminContract read a document once for all tests of a process.
var loadContract = sync.OnceValues(func() (*contract, error) {
	raw, err := api.Document()
	if err != nil {
		return nil, err
	}
	return newContract(raw)
})

var loadAdminContract = sync.OnceValues(func() (*contract, error) {
	raw, err := admin.Document()
	if err != nil {
		return nil, err
	}
	return newContract(raw)
})
