package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestWebhookLog: the log of a message has each attempt with the beginning of what the endpoint answered, whatever
// bytes it sent.
func TestWebhookLog(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		admin, receiver := s.Operator(t, operator.Webhooks), newWebhookReceiver(t)
		receiver.answer = "unknown \x00\xff" + strings.Repeat("न", 2000)
		receiver.set(func(webhookEvent) int { return 500 })
		own := admin.Call(t, "POST", "/api/admin/webhooks", map[string]any{"url": receiver.URL, "events": []string{"player.approved"}}).Want(t, 201).Header.Get("Location")
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		decideAsGuardian(t, s.SignIn(t, "guardian", guardianNumber), player, "approved")
		attempts := func(n int) []any {
			t.Helper()
			var log []any
			eventually(t, fmt.Sprintf("%d attempts are in the log", n), func() bool {
				for _, item := range admin.Call(t, "GET", own+"/messages", nil).Want(t, 200).Items() {
					log, _ = item["attempt_log"].([]any)
				}
				return len(log) == n
			})
			return log
		}
		first, _ := attempts(1)[0].(map[string]any)
		want := "unknown \uFFFD\uFFFD" + strings.Repeat("न", 1014)
		if first["response"] != want || first["status"] != 500.0 || first["error"] != "responded 500" {
			t.Errorf("got %v", first)
		}
		receiver.set(func(webhookEvent) int { return 202 })
		s.Clock.Advance(6 * time.Second)
		second, _ := attempts(2)[0].(map[string]any)
		if second["status"] != 202.0 || second["error"] != nil {
			t.Errorf("got %v", second)
		}
	}, allowLoopback)
}

// TestWebhookURLTest: an operator sends a test to an endpoint before a webhook is saved for it, and reads what it
// answered. Private addresses get nothing.
func TestWebhookURLTest(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		admin, receiver := s.Operator(t, operator.Webhooks, operator.Audit), newWebhookReceiver(t)
		receiver.answer = "the signature is wrong"
		const path = "/api/admin/webhook-tests"
		got := admin.Call(t, "POST", path, map[string]any{"url": receiver.URL + "/hunter2", "secret": developerSecret}).Want(t, 200)
		events := receiver.await(t, 1)
		events[0].verify(t, developerSecret, true)
		if got.JSON["accepted"] != true || got.JSON["status"] != 204.0 || got.JSON["error"] != nil || events[0].Type != "webhook.test" {
			t.Errorf("got %s for %s", got.Body, events[0].body)
		}
		receiver.set(func(e webhookEvent) int {
			e.verify(t, developerSecret, false)
			return http.StatusUnauthorized
		})
		got = admin.Call(t, "POST", path, map[string]any{"url": receiver.URL}).Want(t, 200)
		if got.JSON["accepted"] != false || got.JSON["status"] != 401.0 || got.JSON["error"] != "responded 401" || got.JSON["response"] != "the signature is wrong" {
			t.Errorf("got %s", got.Body)
		}
		if got = admin.Call(t, "POST", path, map[string]any{"url": "http://127.0.0.1:1"}).Want(t, 200); got.JSON["status"] != nil || got.JSON["error"] != "connection refused" {
			t.Errorf("without a listener: got %s", got.Body)
		}
		for _, address := range []string{"https://localhost:1/", "http://[::1]:1/"} { // only 127.0.0.0/8 is allowed
			if got := admin.Call(t, "POST", path, map[string]any{"url": address}); got.Status == 200 && got.JSON["accepted"] != false {
				t.Errorf("%s: got %s", address, got.Body)
			}
		}
		for _, body := range []map[string]any{
			{}, {"url": "https://10.0.0.1/"}, {"url": "http://app.example/"}, {"url": "ftp://x"}, {"url": "https://app.example/", "secret": "mine"}, {"url": nil},
		} {
			admin.Call(t, "POST", path, body).Want(t, 422, "validation_failed")
		}
		s.Operator(t, operator.AvailabilityScope).Call(t, "POST", path, map[string]any{"url": receiver.URL}).Want(t, 403, "insufficient_scope")
		if list := admin.Call(t, "GET", "/api/admin/webhooks", nil).Want(t, 200); len(list.Items()) != 0 {
			t.Errorf("a test was saved: %s", list.Body)
		}
		if audit := admin.Call(t, "GET", "/api/admin/audit", nil).Want(t, 200); strings.Contains(string(audit.Body), "hunter2") || !strings.Contains(string(audit.Body), "webhook.test") {
			t.Errorf("the audit log has %s", audit.Body)
		}
	}, allowLoopback)
}
