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
)

// Answer is what the service said, read whole.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// JSON is the body where it is an object.
	JSON map[string]any
}

// Code is the code of a problem, or "".
func (a *Answer) Code() string {
	code, _ := a.JSON["code"].(string)
	return code
}

// String returns the member at a dotted path as text, "" where there is none:
// a.String("account.id").
func (a *Answer) String(path string) string {
	switch v := a.at(path).(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// Items returns the items of a list.
func (a *Answer) Items() []map[string]any {
	list, _ := a.JSON["items"].([]any)
	items := make([]map[string]any, len(list))
	for i := range list {
		items[i], _ = list[i].(map[string]any)
	}
	return items
}

func (a *Answer) at(path string) any {
	var v any = a.JSON
	for _, name := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// Call asks the service. body is nil, a string sent as it is, url.Values for a
// form, or what is to be JSON; headers are "Name: value".
func (s *Service) Call(tb testing.TB, method, path, token string, body any, headers ...string) *Answer {
	tb.Helper()
	a, err := s.Try(context.Background(), method, path, token, body, headers...)
	if err != nil {
		tb.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// Try is Call for other goroutines than the test's.
func (s *Service) Try(ctx context.Context, method, path, token string, body any, headers ...string) (*Answer, error) {
	return try(ctx, s.client, method, s.URL+path, token, body, headers...)
}

func try(ctx context.Context, client *http.Client, method, address, token string, body any, headers ...string) (*Answer, error) {
	kind := "application/json"
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case url.Values:
		reader, kind = strings.NewReader(b.Encode()), "application/x-www-form-urlencoded"
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
		req.Header.Set("Content-Type", kind)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	a := &Answer{Status: resp.StatusCode, Header: resp.Header}
	if a.Body, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}
	if strings.Contains(resp.Header.Get("Content-Type"), "json") && len(a.Body) > 0 && a.Body[0] == '{' {
		if err := json.Unmarshal(a.Body, &a.JSON); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Want fails the test unless the answer has the status and, for a problem, the code.
func (a *Answer) Want(tb testing.TB, status int, code ...string) *Answer {
	tb.Helper()
	if a.Status != status || len(code) > 0 && a.Code() != code[0] {
		tb.Fatalf("answer %d %s, want %d %v: %s", a.Status, a.Code(), status, code, a.Body)
	}
	return a
}
