package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/consent"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/endpoint"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/inflight"
	"github.com/touchline/touchline/internal/platform/ratelimit"
	"github.com/touchline/touchline/internal/player"
)

// TestOrderOfChecks sends requests with several faults. The response is about the first
// check in the order of openapi.yaml, section Problems.
func TestOrderOfChecks(t *testing.T) {
	a := newFixture(t)
	h := a.server.HandlerWith(
		api.TestRoute{Pattern: "/api/coach-only", CoachOnly: true},
		api.TestRoute{Pattern: "/api/pending", Authorize: func(context.Context, actor.Actor) error {
			return fault.New(fault.Forbidden, "approval_pending", "Wait.")
		}},
		api.TestRoute{Pattern: "/api/all", Handle: func(ctx context.Context) (endpoint.Response, error) { return endpoint.Response{}, fault.Missing() }},
	)
	token, html, big := "Authorization: Bearer "+a.token, "Accept: text/html", strings.Repeat(" ", 64<<10+1)
	tests := []struct {
		name, method, path, body, code string
		status                         int
		headers                        []string
	}{
		{"405 before 401", "GET", "/api/all", "", "method_not_allowed", 405, nil},
		{"405 before 415", "PUT", "/auth/login", "x", "method_not_allowed", 405, []string{"Content-Type: text/plain"}},
		{"401 before 403", "POST", "/api/coach-only", "{}", "token_missing", 401, nil},
		{"401 before 413", "POST", "/api/all", big, "token_invalid", 401, []string{"Authorization: Bearer x"}},
		{"403 before 413", "POST", "/api/coach-only", big, "role_not_allowed", 403, []string{token}},
		{"403 of an authorization function before 415", "POST", "/api/pending", "x", "approval_pending", 403, []string{token, "Content-Type: text/plain"}},
		{"413 before 415", "POST", "/api/all", big, "payload_too_large", 413, []string{token, "Content-Type: text/plain", html}},
		{"415 before 406", "POST", "/api/all", "x", "unsupported_media_type", 415, []string{token, "Content-Type: text/plain", html}},
		{"415 for another charset", "POST", "/api/all", "{}", "unsupported_media_type", 415, []string{token, "Content-Type: application/json; charset=latin1"}},
		{"415 for a Content-Encoding", "POST", "/api/all", "{}", "unsupported_media_type", 415, []string{token, "Content-Encoding: gzip"}},
		{"415 for a merge patch on a POST", "POST", "/api/all", "{}", "unsupported_media_type", 415, []string{token, "Content-Type: application/merge-patch+json"}},
		{"415 for another type without a body", "POST", "/api/all", "", "unsupported_media_type", 415, []string{token, "Content-Type: text/plain"}},
		{"400 for no body", "POST", "/api/all", "", "malformed_request", 400, []string{token}},
		{"400 for no body of a merge patch", "PATCH", "/api/me/preferences", "", "malformed_request", 400, []string{token}},
		{"406 before 400", "POST", "/api/all", "{", "not_acceptable", 406, []string{token, html}},
		{"400 before 404", "POST", "/api/all", "{", "malformed_request", 400, []string{token}},
		{"404", "POST", "/api/all", "{}", "not_found", 404, []string{token, "Content-Type: application/json;charset=UTF-8"}},
		{"404 for an unknown path", "GET", "/nowhere", "", "not_found", 404, nil},
		{"404 for a path that is not clean", "GET", "/api//me", "", "not_found", 404, nil},
		{"404 for dots", "GET", "/api/../api/me", "", "not_found", 404, nil},
		{"404 for a trailing slash", "GET", "/api/me/", "", "not_found", 404, nil},
		{"422 on a public route", "POST", "/auth/login", `{"mobile_number":"1","otp":"x","role":"king"}`, "validation_failed", 422, nil},
		{"401 for an invalid refresh token", "POST", "/auth/refresh", `{"refresh_token":"x"}`, "refresh_token_invalid", 401, nil},
		{"401 for an access token instead", "POST", "/auth/refresh", `{"refresh_token":"` + strings.Repeat("a.", 300) + `"}`, "refresh_token_invalid", 401, nil},
		{"401 for a refresh token with a newline", "POST", "/auth/refresh", `{"refresh_token":"x\n\u0000"}`, "refresh_token_invalid", 401, nil},
		{"422 for an empty refresh token", "POST", "/auth/refresh", `{"refresh_token":""}`, "validation_failed", 422, nil},
		{"logout with an access token as refresh_token", "POST", "/auth/logout", `{"refresh_token":"` + strings.Repeat("a.", 300) + `"}`, "refresh_token_invalid", 401, nil},
		{"logout without a token", "POST", "/auth/logout", "", "token_missing", 401, nil},
		{"logout with a bad refresh token", "POST", "/auth/logout", `{"refresh_token":"x"}`, "refresh_token_invalid", 401, []string{"Authorization: Bearer x"}},
		{"422 for a bad query", "GET", "/api/notifications?limit=0&cursor=x&unread=perhaps", "", "validation_failed", 422, []string{token}},
		{"406 for a stream as JSON", "GET", "/api/notifications/stream", "", "not_acceptable", 406, []string{token, "Accept: application/json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := send(h, tt.method, tt.path, tt.body, tt.headers...)
			if w.Code != tt.status || problemCode(t, w) != tt.code {
				t.Fatalf("got %d %s, want %d %s", w.Code, w.Body, tt.status, tt.code)
			}
			challenge := `Bearer error="invalid_token"`
			if tt.code == "token_missing" {
				challenge = `Bearer realm="touchline"`
			}
			if w.Code == 405 && w.Header().Get("Allow") == "" || w.Code == 401 && w.Header().Get("WWW-Authenticate") != challenge {
				t.Errorf("headers: %v", w.Header())
			}
			if strings.HasPrefix(tt.path, "/auth") && w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("got Cache-Control %q, want no-store", w.Header().Get("Cache-Control"))
			}
		})
	}
}

func TestLoginReportsEveryFault(t *testing.T) {
	w := send(newFixture(t).server.Handler(), "POST", "/auth/login", `{"mobile_number":"12","otp":"12 a","role":"king","extra":1}`)
	var problem struct {
		Errors []struct{ Pointer, Code string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || len(problem.Errors) != 4 {
		t.Errorf("got %s, want 4 faults", w.Body)
	}
}

func TestMethods(t *testing.T) {
	h := newFixture(t).server.Handler()
	if w := send(h, "OPTIONS", "/api/coach/profile", ""); w.Code != 204 || w.Header().Get("Allow") != "GET, HEAD, OPTIONS, PATCH" {
		t.Errorf("OPTIONS: %d %q", w.Code, w.Header().Get("Allow"))
	}
	if w := send(h, "HEAD", "/healthz", ""); w.Code != 200 {
		t.Errorf("HEAD: %d", w.Code)
	}
	if w := send(h, "TRACE", "/healthz", ""); w.Code != 405 {
		t.Errorf("TRACE: %d", w.Code)
	}
}

func TestRateLimitBeforeAuthentication(t *testing.T) {
	h := newFixture(t, func(c *api.Config) { c.Limiter = ratelimit.New(2) }).server.Handler()
	send(h, "GET", "/api/me", "")
	send(h, "GET", "/nowhere", "")
	if w := send(h, "GET", "/api/me", ""); problemCode(t, w) != "rate_limited" || w.Header().Get("Retry-After") == "" {
		t.Errorf("third request: got %s, want rate_limited", w.Body)
	}
	if w := send(h, "GET", "/nowhere", ""); w.Code != 429 {
		t.Errorf("unknown path: got %d, want 429", w.Code)
	}
	if w := send(h, "PUT", "/api/me", ""); w.Code != 405 {
		t.Errorf("wrong method: got %d, want 405", w.Code)
	}
	if w := send(h, "GET", "/healthz", ""); w.Code != 200 {
		t.Errorf("healthz: got %d, want 200", w.Code)
	}
}

// TestOverloadAfterRateLimit: overloaded comes after rate_limited and before
// authentication.
func TestOverloadAfterRateLimit(t *testing.T) {
	limiter := inflight.New(1)
	h := newFixture(t, func(c *api.Config) { c.Limiter, c.InFlight = ratelimit.New(2), &inflight.Limits{Reads: limiter} }).server.Handler()
	slot, err := limiter.Acquire(false)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if w := send(h, "GET", "/api/me", ""); problemCode(t, w) != "overloaded" || w.Header().Get("Retry-After") == "" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("got %d %s, want overloaded", w.Code, w.Body)
		}
	}
	if w := send(h, "GET", "/api/me", ""); problemCode(t, w) != "rate_limited" {
		t.Errorf("third request: got %s, want rate_limited", w.Body)
	}
	if w := send(h, "PUT", "/api/me", ""); w.Code != 405 {
		t.Errorf("wrong method: got %d, want 405", w.Code)
	}
	if w := send(h, "GET", "/healthz", ""); w.Code != 200 {
		t.Errorf("healthz: got %d, want 200", w.Code)
	}
	slot.Release()
}

// TestDownloadIsNotInFlight: a file is written as fast as its client reads it, so it must not
// take the place of another request.
func TestDownloadIsNotInFlight(t *testing.T) {
	limiter := inflight.New(1)
	export := func(_ context.Context, _ actor.Actor, _ approval.Filter, out io.Writer) error {
		if n := limiter.Stats().Running; n != 0 {
			t.Errorf("%d requests are in flight while a file is written", n)
		}
		_, err := io.WriteString(out, "cells")
		return err
	}
	a := newFixture(t, func(c *api.Config) {
		c.InFlight = &inflight.Limits{Reads: limiter}
		c.Features = append(c.Features, consent.Service{Service: &player.Service{}, Export: export}.Operations)
	})
	a.session.Role = actor.Coach
	a.exec(t, `UPDATE sessions SET role = 'coach'`)
	token, err := a.auth.Tokens.Access(a.session)
	if err != nil {
		t.Fatal(err)
	}
	if w := send(a.server.Handler(), "GET", "/api/players", "", "Authorization: Bearer "+token, "Accept: text/csv"); w.Code != 200 || w.Body.String() != "cells" {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// TestInternalErrorsStayInternal checks that the response to an error or a panic does not
// show it, and that the log has it once, with the trace id of the response.
func TestInternalErrorsStayInternal(t *testing.T) {
	a := newFixture(t)
	h := a.server.HandlerWith(
		api.TestRoute{Pattern: "/api/error/{id}", Public: true, Handle: func(ctx context.Context) (endpoint.Response, error) {
			return endpoint.Response{}, errors.New("secret cause")
		}},
		api.TestRoute{Pattern: "/api/panic/{id}", Public: true, Handle: func(ctx context.Context) (endpoint.Response, error) { panic("secret cause") }},
	)
	for _, path := range []string{"/api/error/hidden", "/api/panic/hidden"} {
		a.log.Reset()
		w := send(h, "POST", path+"?token=hidden", "{}")
		if problemCode(t, w) != "internal_error" || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: got %s, want internal_error", path, w.Body)
		}
		logged := a.log.String()
		if strings.Count(logged, "level=ERROR") != 1 || !strings.Contains(logged, "secret cause") || !strings.Contains(logged, w.Header().Get("X-Trace-Id")) {
			t.Errorf("%s logged %s", path, logged)
		}
		if strings.Contains(logged, "hidden") {
			t.Errorf("the log has a path or query: %s", logged)
		}
	}
}

func TestJWKS(t *testing.T) {
	w := send(newFixture(t).server.Handler(), "GET", "/.well-known/jwks.json", "", "Accept: text/html")
	var set struct{ Keys []map[string]string }
	if err := json.Unmarshal(w.Body.Bytes(), &set); err != nil || len(set.Keys) != 1 || set.Keys[0]["alg"] != "ES256" || set.Keys[0]["d"] != "" {
		t.Errorf("got %s, want one public ES256 key", w.Body)
	}
	if w.Header().Get("Cache-Control") != "public, max-age=300" {
		t.Errorf("headers: %v", w.Header())
	}
}
