package e2e_test

import (
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// loopbackProxy makes the test's own address a trusted proxy.
func loopbackProxy(c *config.Config) {
	c.PublicURL, c.TrustedProxies = "https://touchline.example", []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// sendRaw sends a request without following redirects, and returns the response with its body.
func sendRaw(t *testing.T, method, address, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// TestHTTPAtProxy: behind an https PUBLIC_URL, what a trusted proxy received over http is
// redirected, or refused without an effect. A proxy that does not say so is never redirected.
func TestHTTPAtProxy(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), loopbackProxy)
	const form, plain = "Content-Type: application/x-www-form-urlencoded", "X-Forwarded-Proto: http"
	otp := `{"mobile_number": "+919812300001"}`
	for _, path := range []string{"/", "/coach/players?q=a%20b", "/a/abc", "/api/coaches?limit=1", "/docs", "/nowhere", "/static/none.css"} {
		for _, method := range []string{"GET", "HEAD"} {
			resp, _ := sendRaw(t, method, s.URL+path, "", plain, "Accept: text/html")
			if resp.StatusCode != 308 || resp.Header.Get("Location") != "https://touchline.example"+path || resp.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: got %d to %q", method, path, resp.StatusCode, resp.Header.Get("Location"))
			}
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if resp, _ := sendRaw(t, "GET", s.URL+path, "", plain); resp.StatusCode != 200 {
			t.Errorf("%s: got %d", path, resp.StatusCode)
		}
	}
	resp, body := sendRaw(t, "POST", s.URL+"/auth/request-otp", otp, plain, "Content-Type: application/json")
	if resp.StatusCode != 403 || !strings.Contains(body, `"code":"https_required"`) || resp.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("API: got %d %s", resp.StatusCode, body)
	}
	resp, body = sendRaw(t, "POST", s.URL+"/sign-in/coach", "number=98123+00001", plain, form)
	if resp.StatusCode != 403 || !strings.Contains(body, "its address must begin with https") || !strings.Contains(resp.Header.Get("Content-Type"), "text/html") || len(resp.Cookies()) > 0 {
		t.Errorf("page: got %d %s", resp.StatusCode, body)
	}
	s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": "+919812300002"}).Want(t, 202) // a proxy without the header
	s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": "+919812300003"}, "X-Forwarded-Proto: https").Want(t, 202)
	s.SMS("+919812300003", "otp", 0)
	if n := s.Sent("+919812300001", "otp"); n != 0 {
		t.Errorf("a refused request sent %d OTPs", n)
	}

	for name, option := range map[string]touchlinetest.Option{
		"a proxy that is not trusted": func(c *config.Config) { c.PublicURL = "https://touchline.example" },
		"INSECURE_HTTP":               func(c *config.Config) { loopbackProxy(c); c.InsecureHTTP = true },
		"an http PUBLIC_URL":          func(c *config.Config) { loopbackProxy(c); c.PublicURL = "http://127.0.0.1:8080" },
	} {
		other := touchlinetest.New(t, storetest.SQLite(t), option)
		if resp, _ := sendRaw(t, "GET", other.URL+"/sign-in/coach", "", plain); resp.StatusCode != 200 {
			t.Errorf("%s: got %d", name, resp.StatusCode)
		}
		other.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}, plain).Want(t, 202)
	}
}

// TestOperatorCookieIsSecure: behind an https PUBLIC_URL the cookie of the console needs https,
// also if its listener has no TLS. A browser that does not keep it says so.
func TestOperatorCookieIsSecure(t *testing.T) {
	t.Parallel()
	for publicURL, secure := range map[string]bool{"https://touchline.example": true, "http://127.0.0.1:8080": false} {
		s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.PublicURL = publicURL })
		token := url.Values{"token": {s.Operator(t, operator.Coaches).Token}}.Encode()
		resp, body := sendRaw(t, "POST", s.AdminURL+"/sign-in", token, "Content-Type: application/x-www-form-urlencoded")
		cookies := resp.Cookies()
		if resp.StatusCode != 303 || len(cookies) != 1 {
			t.Fatalf("got %d %s with %v", resp.StatusCode, body, cookies)
		}
		name := "touchline-operator"
		if secure {
			name = "__Host-touchline-operator"
		}
		if c := cookies[0]; c.Name != name || c.Secure != secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
			t.Errorf("%s: got the cookie %s", publicURL, c)
		}
		_, body = sendRaw(t, "GET", s.AdminURL+resp.Header.Get("Location"), "", "Accept: text/html")
		if got := strings.Contains(body, "Your browser did not keep the sign-in"); got != secure {
			t.Errorf("%s: the page without the cookie says why: %t, want %t", publicURL, got, secure)
		}
		resp, body = sendRaw(t, "GET", s.AdminURL+resp.Header.Get("Location"), "", "Accept: text/html", "Cookie: "+cookies[0].Name+"="+cookies[0].Value)
		if !strings.Contains(body, "Signed in with the operator token") {
			t.Errorf("%s: got %d %s", publicURL, resp.StatusCode, body)
		}
	}
}

// TestProxyWarning: X-Forwarded-For without TRUSTED_PROXIES is one warning an hour.
func TestProxyWarning(t *testing.T) {
	t.Parallel()
	const warning, header = "TOUCHLINE_TRUSTED_PROXIES is not set", "X-Forwarded-For: 192.0.2.7"
	s := touchlinetest.New(t, storetest.SQLite(t))
	count := func() int { return strings.Count(s.Log.String(), warning) }
	s.Call(t, "GET", "/healthz", "", nil).Want(t, 200)
	if n := count(); n != 0 {
		t.Errorf("without the header: %d warnings", n)
	}
	for range 20 {
		s.Call(t, "GET", "/api/coaches", "", nil, header).Want(t, 200)
	}
	s.AdminCall(t, "GET", "/healthz", "", nil, header).Want(t, 200)
	if n := count(); n != 1 || strings.Contains(s.Log.String(), "192.0.2.7") {
		t.Errorf("%d warnings, want 1 without an address:\n%s", n, s.Log)
	}
	s.Clock.Advance(time.Hour)
	s.Call(t, "GET", "/api/coaches", "", nil, header).Want(t, 200)
	if n := count(); n != 2 {
		t.Errorf("an hour later: %d warnings, want 2", n)
	}
	trusted := touchlinetest.New(t, storetest.SQLite(t), loopbackProxy)
	trusted.Call(t, "GET", "/api/coaches", "", nil, header).Want(t, 200)
	if strings.Contains(trusted.Log.String(), warning) {
		t.Error("a warning although TRUSTED_PROXIES is set")
	}
}

// TestProbesAreNotInAccessLog: the access log has no line of load balancers and monitoring.
func TestProbesAreNotInAccessLog(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.AccessLog = true })
	token := s.Operator(t, operator.Metrics).Token
	s.Call(t, "GET", "/healthz", "", nil).Want(t, 200)
	s.Call(t, "GET", "/readyz", "", nil).Want(t, 200)
	s.AdminCall(t, "GET", "/healthz", "", nil).Want(t, 200)
	s.AdminCall(t, "GET", "/readyz", "", nil).Want(t, 200)
	s.AdminCall(t, "GET", "/metrics", token, nil).Want(t, 200)
	s.AdminCall(t, "GET", "/metrics", "", nil).Want(t, 401)
	s.Call(t, "GET", "/api/coaches", "", nil).Want(t, 200)
	eventually(t, "the access log has the call", func() bool { return strings.Contains(s.Log.String(), `"route":"/api/coaches"`) })
	for line := range strings.Lines(s.Log.String()) {
		if strings.Contains(line, `"level":"INFO"`) && strings.Contains(line, `"msg":"request"`) && !strings.Contains(line, `"route":"/api/coaches"`) {
			t.Errorf("the access log has %s", line)
		}
	}
}
