package webhook_test

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/touchline/touchline/internal/platform/webhook"
)

// TestMain makes the certificate of httptest a trusted one.
func TestMain(m *testing.M) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	certificate := server.Certificate().Raw
	server.Close()
	dir, err := os.MkdirTemp("", "webhook")
	if err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "root.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}), 0o600); err != nil {
		panic(err)
	}
	_ = os.Setenv("SSL_CERT_FILE", file)
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

var loopback = webhook.Networks{netip.MustParsePrefix("127.0.0.0/8")}

const (
	secret      = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

func message(url string, secrets ...string) webhook.Message {
	return webhook.Message{ID: "msg_1", URL: url, Body: []byte(`{"type":"player.approved"}`), Secrets: secrets}
}

// TestSend: the library of the specification verifies what an endpoint receives, over HTTPS
// and HTTP, with either secret of a rotation and with no other.
func TestSend(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(http.Handler) *httptest.Server{"https": httptest.NewTLSServer, "http": httptest.NewServer} {
		server := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			for key, valid := range map[string]bool{secret: true, otherSecret: true, "whsec_YW5vdGhlciBzZWNyZXQ=": false} {
				verifier, err := standardwebhooks.NewWebhook(key)
				if err != nil {
					t.Error(err)
					continue
				}
				if err := verifier.Verify(body, r.Header); (err == nil) != valid {
					t.Errorf("%s: Verify with %s: %v, want valid: %t", name, key, err, valid)
				}
			}
			if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Webhook-Id") != "msg_1" || string(body) != `{"type":"player.approved"}` {
				t.Errorf("%s: got %s %v %s", name, r.Method, r.Header, body)
			}
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, "no coffee")
		}))
		t.Cleanup(server.Close)
		got, err := webhook.NewSender(loopback, time.Now).Send(t.Context(), message(server.URL, secret, otherSecret))
		if got.Took <= 0 {
			t.Errorf("%s: took %s", name, got.Took)
		}
		got.Took = 0
		if want := (webhook.Response{Status: 418, RetryAfter: 7 * time.Second, Body: "no coffee"}); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
}

// TestSendSignature: the signature equals the one in the specification's library.
func TestSendSignature(t *testing.T) {
	t.Parallel()
	at := time.Unix(1674087231, 0)
	signature := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { signature <- r.Header.Get("Webhook-Signature") }))
	t.Cleanup(server.Close)
	m := message(server.URL, secret)
	if _, err := webhook.NewSender(loopback, func() time.Time { return at }).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	want, err := signer.Sign(m.ID, at, m.Body)
	if got := <-signature; err != nil || got != want {
		t.Errorf("got %q, want %q, %v", got, want, err)
	}
}

// TestSendFailures: no redirect is followed, private addresses get no connection, and what
// the log shows has neither the URL nor bytes of the response.
func TestSendFailures(t *testing.T) {
	t.Parallel()
	reached := false
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(private.Close)
	port := private.URL[strings.LastIndex(private.URL, ":"):]
	redirecting := httptest.NewServer(http.RedirectHandler(private.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirecting.Close)
	garbage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_, _ = conn.Write([]byte("hunter2\r\n"))
			_ = conn.Close()
		}
	}))
	t.Cleanup(garbage.Close)
	untrusted := httptest.NewTLSServer(nil)
	t.Cleanup(untrusted.Close)

	for _, tt := range []struct {
		name, url string
		networks  webhook.Networks
		want      webhook.Response
	}{
		{"redirect", redirecting.URL, loopback, webhook.Response{Status: 307}},
		{"http to loopback", private.URL + "/hunter2", nil, webhook.Response{Error: "its address is private"}},
		{"https to loopback", "https://127.0.0.1" + port, nil, webhook.Response{Error: "its address is private"}},
		{"a name of loopback", "http://localhost" + port, nil, webhook.Response{Error: "its address is private"}},
		{"IPv4 in IPv6", "http://[::ffff:127.0.0.1]" + port, nil, webhook.Response{Error: "its address is private"}},
		{"another network", private.URL, webhook.Networks{netip.MustParsePrefix("10.0.0.0/8")}, webhook.Response{Error: "its address is private"}},
		{"http to a public address", "http://8.8.8.8/", loopback, webhook.Response{Error: "its address is private"}},
		{"metadata", "https://169.254.169.254/latest", loopback, webhook.Response{Error: "its address is private"}},
		{"no listener", "http://127.0.0.1:1", loopback, webhook.Response{Error: "connection refused"}},
		{"no HTTP", garbage.URL, loopback, webhook.Response{Error: "closed the connection or did not respond with HTTP"}},
		{"no such name", "https://" + strings.Repeat("x", 64) + ".example/", loopback, webhook.Response{Error: "its name does not resolve"}},
		{"certificate of another name", strings.Replace(untrusted.URL, "127.0.0.1", "localhost", 1), loopback, webhook.Response{Error: "its certificate is invalid"}},
		{"invalid URL", "http://127.0.0.1:port/", loopback, webhook.Response{Error: "the URL is invalid"}},
	} {
		got, err := webhook.NewSender(tt.networks, time.Now).Send(t.Context(), message(tt.url, secret))
		got.Took, got.Body = 0, ""
		if err != nil || got != tt.want {
			t.Errorf("%s: got %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
	if reached {
		t.Error("a private address was reached")
	}
	if _, err := webhook.NewSender(loopback, time.Now).Send(t.Context(), message(private.URL, "whsec_%")); err == nil || strings.Contains(err.Error(), "%") {
		t.Errorf("a broken secret: got %v", err)
	}
}

// TestSendBody: the beginning of a response is text that both databases store.
func TestSendBody(t *testing.T) {
	t.Parallel()
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
	t.Cleanup(server.Close)
	sender := webhook.NewSender(loopback, time.Now)
	for name, tt := range map[string]struct{ body, want string }{
		"empty":               {"", ""},
		"as long as allowed":  {strings.Repeat("न", webhook.MaxBody), strings.Repeat("न", webhook.MaxBody)},
		"longer":              {strings.Repeat("न", webhook.MaxBody) + "x", strings.Repeat("न", webhook.MaxBody)},
		"binary":              {"a\x00b\xff\xfec", "a\uFFFDb\uFFFDc"},
		"ends in a character": {"x\xe0\xa4", "x\uFFFD"},
		"more than is read":   {strings.Repeat("\xff", 1<<20), "\uFFFD"},
		"cut in a character":  {strings.Repeat("\x80", 16<<10-1) + "न", "\uFFFD"},
	} {
		body = tt.body
		got, err := sender.Send(t.Context(), message(server.URL, secret))
		if err != nil || got.Status != 200 || got.Body != tt.want {
			t.Errorf("%s: got %d %q, %v, want %q", name, got.Status, got.Body, err, tt.want)
		}
	}
}

// TestNetworks: only addresses of the public internet and named networks are allowed.
func TestNetworks(t *testing.T) {
	t.Parallel()
	named := webhook.Networks{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32")}
	for address, allowed := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "172.32.0.1": true, "100.63.0.1": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true,
		"10.1.2.3": true, "fd00:1::5": true, "::ffff:10.1.2.3": true,
		"10.2.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false, "127.0.0.1": false, "0.0.0.0": false,
		"169.254.169.254": false, "100.64.0.1": false, "192.0.0.8": false, "198.18.0.1": false, "203.0.113.1": false, "224.0.0.1": false,
		"255.255.255.255": false, "240.0.0.1": false, "::": false, "::1": false, "fe80::1": false, "fc00::1": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "64:ff9b::7f00:1": false, "64:ff9b:1::1": false, "2002:7f00:1::": false, "2001::1": false, "2001:db8::1": false,
		"::127.0.0.1": false, "fec0::1": false, "fe80::1%eth0": false, "fd00:1::5%eth0": false,
	} {
		if got := named.Allows(netip.MustParseAddr(address)); got != allowed {
			t.Errorf("%s: allowed %t, want %t", address, got, allowed)
		}
	}
}
