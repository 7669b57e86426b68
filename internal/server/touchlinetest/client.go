package touchlinetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// CallLimit ends a call that hangs. The service answers each call earlier. It is long because an upload of
// 10 MiB, which takes a second alone, takes more than 30 s on a busy machine.
const CallLimit = 3 * time.Minute

// Response is a response of the service with its whole body.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	// JSON is the decoded body, nil unless the body is a JSON object.
	JSON map[string]any
}

// Code returns the code of a problem document, or "".
func (r *Response) Code() string {
	code, _ := r.JSON["code"].(string)
	return code
}

// String returns the value at a dotted path as text, or "" if it is absent:
// r.String("account.id").
func (r *Response) String(path string) string {
	switch v := r.value(path).(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// Items returns the items of a list.
func (r *Response) Items() []map[string]any {
	list, _ := r.JSON["items"].([]any)
	items := make([]map[string]any, len(list))
	for i := range list {
		items[i], _ = list[i].(map[string]any)
	}
	return items
}

func (r *Response) value(path string) any {
	var v any = r.JSON
	for _, name := range strings.Split(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[name]
	}
	return v
}

// Want fails the test unless the response has the status and, for a problem, the code.
func (r *Response) Want(tb testing.TB, status int, code ...string) *Response {
	tb.Helper()
	if r.Status != status || len(code) > 0 && r.Code() != code[0] {
		tb.Fatalf("got status %d %s, want %d %v: %s", r.Status, r.Code(), status, code, r.Body)
	}
	return r
}

// Call sends a request to the service. A nil body is none, a string is sent
// unchanged, url.Values as a form, and everything else as JSON. Headers have the
// form "Name: value".
func (s *Service) Call(tb testing.TB, method, path, token string, body any, headers ...string) *Response {
	tb.Helper()
	resp, err := s.Do(context.Background(), method, path, token, body, headers...)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	return resp
}

// At returns a service that runs at an address, for calls and browsers only.
func At(address string) *Service { return &Service{URL: address, client: http.DefaultClient} }

// Do is Call for goroutines that must not end the test: it returns the error.
func (s *Service) Do(ctx context.Context, method, path, token string, body any, headers ...string) (*Response, error) {
	return do(ctx, s.client, method, s.URL+path, token, body, headers...)
}

func do(ctx context.Context, client *http.Client, method, address, token string, body any, headers ...string) (*Response, error) {
	contentType := "application/json"
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case url.Values:
		reader, contentType = strings.NewReader(b.Encode()), "application/x-www-form-urlencoded"
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return nil, err
	}
	if reader != nil {
		req.Header.Set("Content-Type", contentType)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	got, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	resp := &Response{Status: got.StatusCode, Header: got.Header}
	if resp.Body, err = readBody(got); err != nil {
		return nil, err
	}
	if strings.Contains(got.Header.Get("Content-Type"), "json") && len(resp.Body) > 0 && resp.Body[0] == '{' {
		if err := json.Unmarshal(resp.Body, &resp.JSON); err != nil {
			return nil, err
		}
	}
	return resp, nil
}
