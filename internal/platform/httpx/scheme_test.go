package httpx_test

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/platform/httpx"
)

// TestHTTPSOnly: the service acts only on the word of a trusted proxy to which the client
// connected, so that no proxy that ends TLS gets into a loop of redirects.
func TestHTTPSOnly(t *testing.T) {
	const trusted, other = "10.0.0.1:4711", "192.0.2.1:4711"
	settings := httpx.Settings{
		PublicURL: "https://t.example", HTTPSOnly: true, Log: slog.New(slog.DiscardHandler),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
	}
	for _, tt := range []struct {
		name, method, path, from string
		headers                  []string
		tls                      bool
		status                   int
		scheme                   string
	}{
		{"http at the proxy", "GET", "/coach?x=%2F&y", trusted, []string{"X-Forwarded-Proto: http", "X-Forwarded-For: 192.0.2.7"}, false, 308, "http"},
		{"HEAD", "HEAD", "/coach?x=%2F&y", trusted, []string{"X-Forwarded-Proto: HTTP"}, false, 308, "http"},
		{"POST", "POST", "/auth/login", trusted, []string{"X-Forwarded-Proto: http"}, false, 403, "http"},
		{"OPTIONS", "OPTIONS", "/auth/login", trusted, []string{"X-Forwarded-Proto: http"}, false, 403, "http"},
		{"TLS from the proxy to the service", "GET", "/coach?x=%2F&y", trusted, []string{"X-Forwarded-Proto: http"}, true, 308, "http"},
		{"https at the proxy", "POST", "/auth/login", trusted, []string{"X-Forwarded-Proto: https"}, false, 200, "https"},
		{"a proxy that does not say", "POST", "/auth/login", trusted, []string{"X-Forwarded-For: 192.0.2.7"}, false, 200, ""},
		{"a proxy that says another word", "GET", "/", trusted, []string{"X-Forwarded-Proto: ws"}, false, 200, ""},
		{"a list with https", "GET", "/", trusted, []string{"X-Forwarded-Proto: https, http"}, false, 200, "https"},
		{"two lines with https", "GET", "/", trusted, []string{"X-Forwarded-Proto: https", "X-Forwarded-Proto: http"}, false, 200, "https"},
		{"the outer proxy ends TLS, the inner one names its own scheme", "GET", "/", trusted, []string{"X-Forwarded-Proto: http", "X-Forwarded-For: 192.0.2.7, 10.0.0.9"}, false, 200, ""},
		{"another proxy", "GET", "/", other, []string{"X-Forwarded-Proto: http", "X-Forwarded-For: 192.0.2.7"}, false, 200, ""},
		{"another proxy, POST", "POST", "/auth/login", other, []string{"X-Forwarded-Proto: http"}, false, 200, ""},
		{"another proxy or none, without headers", "GET", "/", other, nil, false, 200, ""},
		{"TLS at the listener", "POST", "/auth/login", other, nil, true, 200, "https"},
		{"TLS at the listener, a forged header", "GET", "/", other, []string{"X-Forwarded-Proto: http"}, true, 200, "https"},
		{"health of a load balancer", "GET", "/healthz", trusted, []string{"X-Forwarded-Proto: http"}, false, 200, "http"},
		{"readiness", "GET", "/readyz", trusted, []string{"X-Forwarded-Proto: http"}, false, 200, "http"},
		{"metrics", "GET", "/metrics", trusted, []string{"X-Forwarded-Proto: http"}, false, 200, "http"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := httpx.Middleware{Settings: settings, HTTPS: true}
			r := httptest.NewRequest(tt.method, tt.path, nil)
			r.RemoteAddr = tt.from
			if tt.tls {
				r.TLS = new(tls.ConnectionState)
			}
			for _, line := range tt.headers {
				name, value, _ := strings.Cut(line, ": ")
				r.Header.Add(name, value)
			}
			if got := m.Scheme(r); got != tt.scheme {
				t.Errorf("the scheme is %q, want %q", got, tt.scheme)
			}
			w := httptest.NewRecorder()
			m.Serve(w, r, new(httpx.RequestInfo), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "passed") }))
			if w.Code != tt.status || (w.Body.String() == "passed") != (tt.status == 200) {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, tt.status)
			}
			location := ""
			if tt.status == 308 {
				location = "https://t.example/coach?x=%2F&y"
			}
			if got := w.Header().Get("Location"); got != location || tt.status != 200 && w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("Location is %q, want %q; Cache-Control is %q", got, location, w.Header().Get("Cache-Control"))
			}
			if tt.status == 403 && !strings.Contains(w.Body.String(), `"code":"https_required"`) {
				t.Errorf("got %s", w.Body)
			}
		})
	}
}
