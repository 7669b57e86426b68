package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/endpoint"
	"github.com/touchline/touchline/internal/fault"
)

// TestOrderOfChecks sends requests that are wrong in several ways; the first
// check of the contract's section 1 that fails answers.
func TestOrderOfChecks(t *testing.T) {
	a := newAdapter(t)
	h := a.server.HandlerWith(
		api.TestRoute{Pattern: "/api/coach-only", CoachOnly: true},
		api.TestRoute{Pattern: "/api/gated", Authorize: func(context.Context, actor.Actor) error {
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
		{"403 at a gate before 415", "POST", "/api/gated", "x", "approval_pending", 403, []string{token, "Content-Type: text/plain"}},
		{"413 before 415", "POST", "/api/all", big, "payload_too_large", 413, []string{token, "Content-Type: text/plain", html}},
		{"415 before 406", "POST", "/api/all", "x", "unsupported_media_type", 415, []string{token, "Content-Type: text/plain", html}},
		{"415 for another charset", "POST", "/api/all", "{}", "unsupported_media_type", 415, []string{token, "Content-Type: application/json; charset=latin1"}},
		{"415 for a coding", "POST", "/api/all", "{}", "unsupported_media_type", 415, []string{token, "Content-Encoding: gzip"}},
		{"415 for a patch that is none", "POST", "/api/all", "{}", "unsupported_media_type", 415, []string{token, "Content-Type: application/merge-patch+json"}},
		{"406 before 400", "POST", "/api/all", "{", "not_acceptable", 406, []string{token, html}},
		{"400 before 404", "POST", "/api/all", "{", "malformed_request", 400, []string{token}},
		{"404", "POST", "/api/all", "{}", "not_found", 404, []string{token, "Content-Type: application/json;charset=UTF-8"}},
		{"404 for no path", "GET", "/nowhere", "", "not_found", 404, nil},
		{"404 for a path that is not clean", "GET", "/api//me", "", "not_found", 404, nil},
		{"404 for dots", "GET", "/api/../api/me", "", "not_found", 404, nil},
		{"404 for a slash too many", "GET", "/api/me/", "", "not_found", 404, nil},
		{"422 without a sign-in", "POST", "/auth/login", `{"mobile_number":"1","otp":"x","role":"king"}`, "validation_failed", 422, nil},
		{"401 of a refresh token", "POST", "/auth/refresh", `{"refresh_token":"x"}`, "refresh_token_invalid", 401, nil},
		{"401 of an access token", "POST", "/auth/refresh", `{"refresh_token":"` + strings.Repeat("a.", 300) + `"}`, "refresh_token_invalid", 401, nil},
		{"401 of a token with a line end", "POST", "/auth/refresh", `{"refresh_token":"x\n\u0000"}`, "refresh_token_invalid", 401, nil},
		{"422 of no token", "POST", "/auth/refresh", `{"refresh_token":""}`, "validation_failed", 422, nil},
		{"logout with an access token", "POST", "/auth/logout", `{"refresh_token":"` + strings.Repeat("a.", 300) + `"}`, "refresh_token_invalid", 401, nil},
		{"logout names no session", "POST", "/auth/logout", "", "token_missing", 401, nil},
		{"logout with a bad refresh token", "POST", "/auth/logout", `{"refresh_token":"x"}`, "refresh_token_invalid", 401, []string{"Authorization: Bearer x"}},
		{"a page of nothing", "GET", "/api/notifications?limit=0&cursor=x&unread=perhaps", "", "validation_failed", 422, []string{token}},
		{"events are not JSON", "GET", "/api/notifications/stream", "", "not_acceptable", 406, []string{token, "Accept: application/json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := ask(h, tt.method, tt.path, tt.body, tt.headers...)
			if w.Code != tt.status || code(t, w) != tt.code {
				t.Fatalf("answer %d: %s", w.Code, w.Body)
			}
			if w.Code == 405 && w.Header().Get("Allow") == "" || w.Code == 401 && !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), `Bearer error="`) {
				t.Errorf("headers: %v", w.Header())
			}
			if strings.HasPrefix(tt.path, "/auth") && w.Header().Get("Cache-Control") != "no-store" {
				t.Error("the answer could be kept")
			}
		})
	}
}

func TestFaultsOfLogin(t *testing.T) {
	w := ask(newAdapter(t).server.Handler(), "POST", "/auth/login", `{"mobile_number":"12","otp":"12 a","role":"king","extra":1}`)
	var problem struct {
		Errors []struct{ Pointer, Code string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || len(problem.Errors) != 4 {
		t.Errorf("every fault is listed: %s", w.Body)
	}
}

func TestMethods(t *testing.T) {
	h := newAdapter(t).server.Handler()
	if w := ask(h, "OPTIONS", "/api/coach/profile", ""); w.Code != 204 || w.Header().Get("Allow") != "GET, HEAD, OPTIONS, PATCH" {
		t.Errorf("OPTIONS: %d %q", w.Code, w.Header().Get("Allow"))
	}
	if w := ask(h, "HEAD", "/healthz", ""); w.Code != 200 {
		t.Errorf("HEAD: %d", w.Code)
	}
	if w := ask(h, "TRACE", "/healthz", ""); w.Code != 405 {
		t.Errorf("TRACE: %d", w.Code)
	}
}

func TestWallBeforeSignIn(t *testing.T) {
	h := newAdapter(t, func(c *api.Config) { c.RequestsPerMinute = 2 }).server.Handler()
	ask(h, "GET", "/api/me", "")
	ask(h, "GET", "/nowhere", "")
	if w := ask(h, "GET", "/api/me", ""); code(t, w) != "rate_limited" || w.Header().Get("Retry-After") == "" {
		t.Errorf("the third: %s", w.Body)
	}
	if w := ask(h, "GET", "/nowhere", ""); w.Code != 429 {
		t.Errorf("what is not there counts, too: %d", w.Code)
	}
	if w := ask(h, "PUT", "/api/me", ""); w.Code != 405 {
		t.Errorf("405 comes first: %d", w.Code)
	}
	if w := ask(h, "GET", "/healthz", ""); w.Code != 200 {
		t.Errorf("health does not count: %d", w.Code)
	}
}

// TestNothingLeaks: an unforeseen error and a panic show nothing and are logged
// once, with the trace id that the caller was given.
func TestNothingLeaks(t *testing.T) {
	a := newAdapter(t)
	h := a.server.HandlerWith(
		api.TestRoute{Pattern: "/api/error/{id}", Public: true, Handle: func(ctx context.Context) (endpoint.Response, error) {
			return endpoint.Response{}, errors.New("secret cause")
		}},
		api.TestRoute{Pattern: "/api/panic/{id}", Public: true, Handle: func(ctx context.Context) (endpoint.Response, error) { panic("secret cause") }},
	)
	for _, path := range []string{"/api/error/hidden", "/api/panic/hidden"} {
		a.log.Reset()
		w := ask(h, "POST", path+"?token=hidden", "{}")
		if code(t, w) != "internal_error" || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %s", path, w.Body)
		}
		logged := a.log.String()
		if strings.Count(logged, "level=ERROR") != 1 || !strings.Contains(logged, "secret cause") || !strings.Contains(logged, w.Header().Get("X-Trace-Id")) {
			t.Errorf("%s logged %s", path, logged)
		}
		if strings.Contains(logged, "hidden") {
			t.Errorf("a path or query was logged: %s", logged)
		}
	}
}

func TestJWKS(t *testing.T) {
	w := ask(newAdapter(t).server.Handler(), "GET", "/.well-known/jwks.json", "", "Accept: text/html")
	var set struct{ Keys []map[string]string }
	if err := json.Unmarshal(w.Body.Bytes(), &set); err != nil || len(set.Keys) != 1 || set.Keys[0]["alg"] != "ES256" || set.Keys[0]["d"] != "" {
		t.Errorf("key set: %s", w.Body)
	}
	if w.Header().Get("Cache-Control") != "public, max-age=300" {
		t.Errorf("headers: %v", w.Header())
	}
}
