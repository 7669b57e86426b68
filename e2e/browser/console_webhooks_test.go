package browser_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestConsoleWebhooks: an operator tests an endpoint before it is saved, saves it, reads the log with what it answered, and
// replays it.
func TestConsoleWebhooks(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `<b>unknown</b> "sender"`)
		}))
		t.Cleanup(endpoint.Close)
		const answer = `<b>unknown</b> "sender"`
		s.Coach(t, "+919812300001").AddPlayer(t, touchlinetest.Minor("+919812300011", ""))
		c := newVisitor(t, s.AdminURL)
		c.post("/sign-in", "token", s.Operator(t, operator.Webhooks).Token)
		c.get("/webhooks").want(200, "There is no webhook yet.")
		c.post("/webhooks", "url", endpoint.URL, "action", "test").want(200, "did not accept the test", "Status 401", answer)
		c.post("/webhooks", "url", "http://127.0.0.1:1/", "action", "test").want(200, "connection refused")
		c.post("/webhooks", "url", "https://10.0.0.1/", "action", "test").want(422, "Private addresses")
		c.post("/webhooks", "url", "x", "action", "save").want(422)
		c.get("/webhooks").want(200, "There is no webhook yet.")
		saved := c.post("/webhooks", "url", endpoint.URL, "description", "Chat", "action", "save").want(200, "whsec_", "only once")
		path := regexp.MustCompile(`action="(/webhooks/[^"]+)"`).FindStringSubmatch(saved.body)
		if path == nil {
			t.Fatalf("no form in %s", saved.body)
		}
		if again := c.get(path[1]).want(200, "Chat", "There is no message."); strings.Contains(again.body, "whsec_") {
			t.Error("the secret is shown again")
		}
		for _, hours := range []string{"0", "2161", "9223372036854775807"} {
			c.post(path[1], "action", "replay", "hours", hours).want(422, "from 1 to 2160")
		}
		c.post(path[1], "action", "replay", "hours", "24")
		for end := time.Now().Add(30 * time.Second); !strings.Contains(c.get(path[1]+"?done=replay").want(200, "The changes are sent again.").body, answer); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the log does not show the answer: %s", c.get(path[1]).body)
			}
		}
		if page := c.get(path[1]); strings.Contains(page.raw, "<b>unknown") {
			t.Error("the answer is not escaped")
		}
		c.post(path[1], "action", "disable")
		c.post(path[1], "action", "test").want(422, "Turn it on first.")
		c.get(path[1]).want(200, "Turn on", "player.pending")
		c.get(path[1]+"?state=failed").want(200, "There is no message.")
		c.get("/webhooks").want(200, "Chat", "Off")
		c.get("/webhooks/01a20334-12fb-73f1-a9ec-e76d9a27f455").want(404)
		other := newVisitor(t, s.AdminURL)
		other.post("/sign-in", "token", s.Operator(t, operator.KYC).Token)
		other.get("/webhooks").want(403)
	}, func(c *config.Config) { c.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
}

// TestConsoleWebhooksLook checks the pages of webhooks with axe.
func TestConsoleWebhooksLook(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "refused: the signature is wrong", http.StatusUnauthorized)
	}))
	t.Cleanup(endpoint.Close)
	op := s.Operator(t, operator.Webhooks)
	own := op.Call(t, "POST", "/api/admin/webhooks", map[string]any{"url": endpoint.URL + "/hooks/touchline", "description": "Chat gateway"}).Want(t, 201)
	s.Coach(t, "+919812300001").AddPlayer(t, touchlinetest.Minor("+919812300011", ""))
	for end := time.Now().Add(touchlinetest.CallLimit); ; time.Sleep(50 * time.Millisecond) {
		if log := op.Call(t, "GET", own.Header.Get("Location")+"/messages", nil).Want(t, 200); strings.Contains(string(log.Body), "signature") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no attempt is in the log")
		}
	}
	p := newPhone(t, s.AdminURL)
	p.open("/")
	p.fill("token", op.Token)
	p.press("Sign in")
	p.checkPages("", "/webhooks", "/webhooks/"+own.String("webhook_id"))
	p.checkStep("/webhooks", func() {
		p.fill("url", endpoint.URL)
		p.click("main button[value=test]")
	})
}
