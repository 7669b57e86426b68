package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

const (
	appOrigin   = "https://app.example"
	localOrigin = "http://localhost:5173"
)

// ask sends a request without a body and returns the response; headers are "Name: value".
func ask(t *testing.T, method, address string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}

// allowedFor returns the origin that may read the response, and fails if it may send cookies.
func allowedFor(t *testing.T, resp *http.Response) string {
	t.Helper()
	if v := resp.Header.Values("Access-Control-Allow-Credentials"); len(v) > 0 {
		t.Errorf("%s: Access-Control-Allow-Credentials is %q", resp.Request.URL.Path, v)
	}
	return resp.Header.Get("Access-Control-Allow-Origin")
}

// TestBrowserAppsOfOtherOrigins: browser apps of the origins in CORS_ORIGINS may call the
// API, without cookies. Other origins, pages and the operators' listener allow nothing.
func TestBrowserAppsOfOtherOrigins(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.CORSOrigins = []string{appOrigin, localOrigin} })
	coach := s.SignIn(t, "coach", "+919812300001")

	preflight := func(origin, method, headers string) string {
		t.Helper()
		asked := []string{"Origin: " + origin, "Access-Control-Request-Method: " + method}
		if headers != "" {
			asked = append(asked, "Access-Control-Request-Headers: "+headers)
		}
		resp := ask(t, "OPTIONS", s.URL+"/api/coach/profile", asked...)
		if resp.StatusCode != http.StatusNoContent || resp.Header.Get("X-Trace-Id") == "" || !slices.Contains(resp.Header.Values("Vary"), "Origin, Access-Control-Request-Method, Access-Control-Request-Headers") {
			t.Errorf("preflight of %s: got %d %v", origin, resp.StatusCode, resp.Header)
		}
		allowed := allowedFor(t, resp)
		if allowed != "" && (resp.Header.Get("Access-Control-Allow-Methods") != method || resp.Header.Get("Access-Control-Allow-Headers") != headers || resp.Header.Get("Access-Control-Max-Age") == "") {
			t.Errorf("preflight of %s with %s: got %v", origin, headers, resp.Header)
		}
		return allowed
	}
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		if got := preflight(appOrigin, method, "authorization,content-type,idempotency-key,if-match,last-event-id"); got != appOrigin {
			t.Errorf("preflight of %s: allowed %q", method, got)
		}
	}
	if got := preflight(localOrigin, "GET", ""); got != localOrigin {
		t.Errorf("the second origin: allowed %q", got)
	}
	for _, origin := range []string{"https://other.example", "https://app.example.other.example", "http://app.example", "https://app.example:8443", "null"} {
		if got := preflight(origin, "GET", "authorization"); got != "" {
			t.Errorf("preflight of %s: allowed %q", origin, got)
		}
		if got := allowedFor(t, ask(t, "GET", s.URL+"/api/me", "Origin: "+origin)); got != "" {
			t.Errorf("request of %s: allowed %q", origin, got)
		}
	}
	if got := preflight(appOrigin, "GET", "x-other"); got != "" {
		t.Errorf("a header that the API does not read: allowed %q", got)
	}

	for _, tt := range []struct {
		path, token string
		status      int
	}{
		{"/api/me", coach.Access, 200},
		{"/api/me", "", 401}, // an app must read why
		{"/api/players/none", coach.Access, 404},
		{"/openapi.json", "", 200},
	} {
		resp := ask(t, "GET", s.URL+tt.path, "Origin: "+appOrigin, "Authorization: Bearer "+tt.token)
		exposed := resp.Header.Get("Access-Control-Expose-Headers")
		if resp.StatusCode != tt.status || allowedFor(t, resp) != appOrigin || !slices.Contains(resp.Header.Values("Vary"), "Origin") {
			t.Errorf("%s: got %d %v", tt.path, resp.StatusCode, resp.Header)
		}
		for _, name := range []string{"Retry-After", "X-Trace-Id", "ETag", "Location"} {
			if !strings.Contains(strings.ToLower(exposed), strings.ToLower(name)) {
				t.Errorf("%s: %s is not exposed: %q", tt.path, name, exposed)
			}
		}
	}
	for _, address := range []string{s.URL + "/sign-in", s.URL + "/a", s.AdminURL + "/api/admin/kyc", s.AdminURL + "/openapi.json"} {
		for _, method := range []string{"GET", "OPTIONS"} {
			if got := allowedFor(t, ask(t, method, address, "Origin: "+appOrigin, "Access-Control-Request-Method: GET")); got != "" {
				t.Errorf("%s %s: allowed %q", method, address, got)
			}
		}
	}
}
