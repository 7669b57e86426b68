package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// recorder is a testing.TB that records failures instead of failing.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

const (
	availability = "/api/services/availability/0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21"
	notFound     = `{"type":"https://t.example/problems/not_found","title":"Not found","status":404,"detail":"Nothing.","code":"not_found","trace_id":"1"}`
)

func TestValidatingTransport(t *testing.T) {
	tests := []struct {
		name         string
		method, path string
		status       int
		header       map[string]string
		kind, body   string
		want         string // a part of the failure, or "" if the response is valid
	}{
		{name: "valid", method: "GET", path: "/healthz", status: 200, kind: "application/json", body: `{"status":"ok"}`},
		{name: "unknown member", method: "GET", path: "/healthz", status: 200, kind: "application/json", body: `{"status":"ok","since":1}`, want: "since"},
		{name: "wrong type", method: "GET", path: "/healthz", status: 200, kind: "text/plain", body: "ok", want: "not documented"},
		{name: "undocumented status", method: "GET", path: "/healthz", status: 418, kind: "application/json", body: `{}`, want: "status is not documented"},
		{name: "not JSON", method: "GET", path: "/healthz", status: 200, kind: "application/json", body: "ok", want: "not JSON"},
		{name: "head", method: "HEAD", path: "/healthz", status: 200, kind: "application/json"},
		{name: "cacheable", method: "GET", path: availability, status: 404, kind: "application/problem+json", body: notFound, header: map[string]string{"Cache-Control": "public"}, want: "no-store"},
		{name: "shared problem", method: "GET", path: availability, status: 404, kind: "application/problem+json", body: notFound},
		{name: "wrong code", method: "GET", path: availability, status: 404, kind: "application/problem+json", body: strings.Replace(notFound, `"not_found"`, `"rate_limited"`, 1), want: "not among x-problem-codes [not_found]"},
		{name: "validation without errors", method: "GET", path: "/api/coaches", status: 422, kind: "application/problem+json", body: strings.Replace(notFound, `"not_found"`, `"validation_failed"`, 1), want: "no member errors"},
		{name: "header missing", method: "GET", path: availability, status: 401, kind: "application/problem+json", body: strings.Replace(notFound, `"not_found"`, `"token_missing"`, 1), want: "WWW-Authenticate"},
		{name: "header of a wrong type", method: "GET", path: "/docs", status: 429, kind: "application/problem+json", header: map[string]string{"Retry-After": "soon"}, want: "not an integer"},
		{name: "unknown path", method: "GET", path: "/nowhere", status: 404, kind: "application/problem+json", body: notFound},
		{name: "unknown path answered", method: "GET", path: "/nowhere", status: 200, kind: "text/plain", body: "hello", want: "operation is not documented"},
		{name: "unknown method without Allow", method: "PUT", path: "/healthz", status: 405, kind: "application/problem+json", body: notFound, want: "Allow"},
		{name: "body of a 204", method: "DELETE", path: "/auth/sessions/1", status: 200, want: "status is not documented"},
		{name: "literal before parameter", method: "POST", path: "/api/players/add", status: 200, want: "status is not documented"},
		{name: "stream", method: "GET", path: "/api/notifications/stream", status: 200, kind: "text/event-stream", body: ": still here\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "no-store")
				w.Header().Set("Content-Type", tt.kind)
				for name, value := range tt.header {
					w.Header().Set(name, value)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			rec := &recorder{TB: t}
			client := &http.Client{Transport: touchlinetest.ValidatingTransport(rec, nil)}
			req, err := http.NewRequestWithContext(t.Context(), tt.method, server.URL+tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || tt.method != "HEAD" && string(body) != tt.body {
				t.Errorf("got body %q, %v, want %q", body, err, tt.body)
			}
			failure := strings.Join(rec.failures, "\n")
			if tt.want == "" && failure != "" || !strings.Contains(failure, tt.want) {
				t.Errorf("got failure %q, want %q", failure, tt.want)
			}
		})
	}
}
