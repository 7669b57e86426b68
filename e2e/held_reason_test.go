package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestHeldReason: the coach reads in the API and on pages what a held message really waits for.
// blocked_by stays message_limit.
func TestHeldReason(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		b := signInPages(t, s, "coach", coachNumber)
		attention := func(request, want string) {
			t.Helper()
			items, _ := coach.Call(t, "GET", "/api/coach/dashboard", nil).Want(t, 200).JSON["attention"].([]any)
			for _, item := range items {
				if item := item.(map[string]any); item["request_id"] == request && item["detail"] == want {
					return
				}
			}
			t.Errorf("the dashboard has %v, want %q", items, want)
		}
		blocked := func(request string) {
			t.Helper()
			for _, item := range coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items() {
				if item["request_id"] == request && item["blocked_by"] != "message_limit" {
					t.Errorf("blocked_by: got %v, want message_limit", item["blocked_by"])
				}
			}
		}

		// The same question again within RESEND_AFTER, after a cancellation.
		player := coach.AddPlayer(t, child(0, guardianNumber))
		s.SMS(guardianNumber, "message", 0)
		coach.Call(t, "POST", "/api/approval/requests/"+player.String("guardian_request_id")+"/cancel", nil).Want(t, 200)
		again := coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": player.String("player_id")}).Want(t, 201).String("request_id")
		request := getRequest(t, coach, again)
		leaves, err := time.Parse(time.RFC3339Nano, request.String("resend_allowed_at"))
		if detail := smsDetail(request); err != nil || !strings.HasPrefix(detail, "Waiting until "+leaves.UTC().Format("2006-01-02T15:04")) || !strings.Contains(detail, "got the question a short time ago") {
			t.Errorf("repeated: %q, %v; want when it leaves, %s", detail, err, leaves)
		}
		attention(again, "Waiting: this person got the question a short time ago. It goes out by itself.")
		blocked(again)
		local := leaves.In(time.FixedZone("IST", 5*3600+1800)).Format("15:04")
		if text := b.Open("/coach/players/" + player.String("player_id")).Text(); !strings.Contains(text, local+": this person got the question a short time ago") || strings.Contains(text, "too many") {
			t.Errorf("the page of the player: %s", text)
		}
		if text := b.Open("/coach/players?show=needs").Text(); !strings.Contains(text, "Message waits: we asked a short time ago") || strings.Contains(text, "too many") {
			t.Errorf("the needs: %s", text)
		}

		// The coach's own limit of the day.
		coach.AddPlayer(t, child(1, otherNumber))
		s.SMS(otherNumber, "message", 0)
		limited := coach.AddPlayer(t, child(2, "+919812300032"))
		waitForHeld(t, coach, limited.String("guardian_request_id"), heldByCoach)
		attention(limited.String("guardian_request_id"), heldByCoach)
		blocked(limited.String("guardian_request_id"))
		if page := b.Open("/coach/players/" + limited.String("player_id")); strings.Count(page.Body, heldByCoach) != 2 || !strings.Contains(page.Body, `<p class="next">`+heldByCoach) {
			t.Errorf("the page of the player does not say at the top and in the history why the message waits: %s", page.Text())
		}
		if text := b.Open("/coach/players?show=needs").Text(); !strings.Contains(text, "Message waits: you have sent many today") {
			t.Errorf("the needs: %s", text)
		}
	}, func(c *config.Config) { c.MessagesPerCoach, c.DefaultRegion = 2, "IN" })
}
