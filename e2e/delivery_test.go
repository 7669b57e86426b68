package e2e_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

var linkPattern = regexp.MustCompile(`https?://\S+`)

// linkPath returns the path of the link in the nth message to number, from 0.
func linkPath(t *testing.T, s *touchlinetest.Service, number string, n int) string {
	t.Helper()
	links := linkPattern.FindAllString(s.SMS(number, "message", n).Text, -1)
	if len(links) != 1 || !strings.HasPrefix(links[0], s.Config.PublicURL+"/a/") {
		t.Fatalf("links of the message: got %q, want one", links)
	}
	return strings.TrimPrefix(links[0], s.Config.PublicURL)
}

// TestMessageLink: the page of a link names coach and student but shows no
// number. A link ends when it expires and when its request is cancelled or gets a
// new contact. A resend has a new link.
func TestMessageLink(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		wantPage := func(path string, want int) string {
			t.Helper()
			return string(s.Call(t, "GET", path, "", nil).Want(t, want).Body)
		}
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		first := linkPath(t, s, guardianNumber, 0)
		page := wantPage(first, 200)
		for _, want := range []string{"Meera Nair", "Asha Rao"} {
			if !strings.Contains(page, want) {
				t.Errorf("page lacks %s", want)
			}
		}
		for _, secret := range []string{coachNumber, guardianNumber, studentNumber, "Asthma", "2014", "Ravi"} {
			if strings.Contains(page, strings.TrimPrefix(secret, "+91")) {
				t.Errorf("page contains %s", secret)
			}
		}
		if other := linkPath(t, s, studentNumber, 0); other == first {
			t.Error("guardian and student got the same link")
		}

		s.Clock.Advance(48*time.Hour + time.Second)
		coach = renewTokens(t, coach)
		send := map[string]any{"player_id": player.String("player_id")}
		resent := coach.Call(t, "POST", "/api/approval/send-guardian-request", send).Want(t, 200)
		if resent.String("request_id") != player.String("guardian_request_id") {
			t.Error("the resend created another request")
		}
		second := linkPath(t, s, guardianNumber, 1)
		if second == first {
			t.Error("the resend has the same link")
		}
		wantPage(second, 200)
		s.Clock.Advance(s.Config.LinkValidity - 48*time.Hour)
		wantPage(first, 404)
		wantPage(second, 200)
		s.Clock.Advance(48*time.Hour + time.Second)
		wantPage(second, 404)

		coach = renewTokens(t, coach)
		coach.Call(t, "POST", "/api/approval/send-guardian-request", send).Want(t, 200)
		third := linkPath(t, s, guardianNumber, 2)
		wantPage(third, 200)
		coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{
			"player_id": player.String("player_id"), "guardian": map[string]any{"mobile_number": otherNumber},
		}).Want(t, 201)
		wantPage(third, 404)
		corrected := linkPath(t, s, otherNumber, 0)
		wantPage(corrected, 200)
		now := coach.Call(t, "GET", "/api/players/"+player.String("player_id"), nil).Want(t, 200)
		coach.Call(t, "POST", "/api/approval/requests/"+now.String("guardian_request_id")+"/cancel", nil).Want(t, 200)
		wantPage(corrected, 404)
		wantPage("/a/nothing", 404)
	})
}

// TestGatewayFailureDelaysDelivery: a gateway failure does not change or delay
// responses. Queued messages arrive once, when the gateway works again.
func TestGatewayFailureDelaysDelivery(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]smstest.Behaviour{
		"unresponsive": {Unresponsive: true},
		"slow":         {Delay: 8 * time.Second},
		"broken":       {Status: 500},
		"busy":         {Status: 503, RetryAfter: "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
				coach := s.Coach(t, coachNumber)
				before := s.Gateway.Attempts()
				s.Gateway.Behave(bad)
				start := time.Now()
				player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
				s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": guardianNumber, "role": "guardian"}).Want(t, 202)
				request := getRequest(t, coach, player.String("guardian_request_id"))
				if took := time.Since(start); took > promptly {
					t.Errorf("three requests took %s", took)
				}
				if state, _ := smsDelivery(request); state != "queued" {
					t.Errorf("delivery: got state %q: %s", state, request.Body)
				}
				eventually(t, "three attempts", func() bool { return s.Gateway.Attempts() >= before+3 })
				if state, _ := smsDelivery(getRequest(t, coach, player.String("guardian_request_id"))); state != "queued" && bad.Delay == 0 {
					t.Errorf("delivery during the failure: got state %q", state)
				}
				s.Gateway.Behave(smstest.Behaviour{})
				s.SMS(guardianNumber, "message", 0)
				s.SMS(studentNumber, "message", 0)
				s.SMS(guardianNumber, "otp", 0)
				eventually(t, "the delivery is sent", func() bool {
					state, reason := smsDelivery(getRequest(t, coach, player.String("guardian_request_id")))
					return state == "sent" && reason == ""
				})
				never(t, s, "a message arrived twice", quietPeriod, func() bool {
					return s.Sent(guardianNumber, "message")+s.Sent(studentNumber, "message")+s.Sent(guardianNumber, "otp") > 3
				})
			})
		})
	}
}

// TestRetryAfter: the worker respects a gateway's Retry-After of one hour.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		before := s.Gateway.Attempts()
		s.Gateway.Behave(smstest.Behaviour{Status: 429, RetryAfter: "3600"})
		coach.AddPlayer(t, child(1, guardianNumber))
		eventually(t, "an attempt", func() bool { return s.Gateway.Attempts() > before })
		s.Gateway.Behave(smstest.Behaviour{})
		never(t, s, "an attempt before Retry-After ended", quietPeriod, func() bool { return s.Gateway.Attempts() > before+1 })
		s.Clock.Advance(time.Hour + time.Minute)
		s.SMS(guardianNumber, "message", 0)
	})
}

// TestRetryAfterBeyondLifetime: a Retry-After beyond the message's lifetime does not
// fail the delivery at once.
func TestRetryAfterBeyondLifetime(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		before := s.Gateway.Attempts()
		s.Gateway.Behave(smstest.Behaviour{Status: 503, RetryAfter: "9999999"})
		player := coach.AddPlayer(t, child(1, guardianNumber))
		eventually(t, "an attempt", func() bool { return s.Gateway.Attempts() > before })
		eventually(t, "the delivery waits", func() bool {
			state, reason := smsDelivery(getRequest(t, coach, player.String("guardian_request_id")))
			if state != "queued" {
				t.Fatalf("delivery: got state %s, reason %s", state, reason)
			}
			return reason != ""
		})
		s.Gateway.Behave(smstest.Behaviour{})
		s.Clock.Advance(day + time.Minute)
		s.SMS(guardianNumber, "message", 0)
	})
}

// TestOTPsDoNotWaitForMessages: OTPs are sent while all workers for messages are
// blocked by the gateway.
func TestOTPsDoNotWaitForMessages(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		s.Gateway.Behave(smstest.Behaviour{Status: 503, RetryAfter: "3600"})
		for i := range 12 {
			coach.AddPlayer(t, child(i, fmt.Sprintf("+9198124%05d", i)))
		}
		db := openTables(t, s)
		eventually(t, "all messages are due again in an hour", func() bool {
			return queryOne[int](t, db, `SELECT count(*) FROM deliveries WHERE kind = 'request' AND channel = 'sms' AND reason = 'retrying'`) == 12
		})
		blocked := make(chan struct{})
		defer close(blocked)
		before := s.Gateway.Attempts()
		s.Gateway.Behave(smstest.Behaviour{Hold: blocked})
		s.Clock.Advance(time.Hour + time.Minute)
		eventually(t, "all message workers are busy", func() bool { return s.Gateway.Attempts() >= before+8 })
		s.Gateway.Behave(smstest.Behaviour{}) // requests in progress stay blocked
		start := time.Now()
		s.SignIn(t, "coach", coach2Number)
		if took := time.Since(start); took > promptly {
			t.Errorf("sign-in took %s", took)
		}
	})
}

// TestPermanentGatewayError: a permanent gateway error fails the delivery. The
// coach is notified once and may resend at once.
func TestPermanentGatewayError(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 422} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
				s.Replica()
				coach := s.Coach(t, coachNumber)
				s.Gateway.Behave(smstest.Behaviour{Status: status})
				player := coach.AddPlayer(t, child(1, guardianNumber))
				id := player.String("guardian_request_id")
				eventually(t, "the delivery fails", func() bool {
					state, _ := smsDelivery(getRequest(t, coach, id))
					return state == "failed"
				})
				pending := coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items()
				if !slices.ContainsFunc(pending, func(m map[string]any) bool {
					return m["request_id"] == id && m["blocked_by"] == "delivery_failed"
				}) {
					t.Errorf("pending approvals: got %v", pending)
				}
				never(t, s, "the coach does not have exactly one notification", quietPeriod, func() bool { return countNotifications(t, coach, "delivery_failed") != 1 })

				s.Gateway.Behave(smstest.Behaviour{})
				resent := coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": player.String("player_id")}).Want(t, 200)
				if resent.String("request_id") != id {
					t.Error("the resend created another request")
				}
				s.SMS(guardianNumber, "message", 0)
				pending = coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items()
				for _, item := range pending {
					if item["request_id"] == id && item["blocked_by"] != nil {
						t.Errorf("still blocked: %v", item)
					}
				}
				coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": player.String("player_id")}).Want(t, 409, "request_pending")
			})
		})
	}
}

// TestDeliveryFailsAfterOneDay: a message is retried for one day, then its
// delivery fails and the coach is notified once, with several replicas running.
func TestDeliveryFailsAfterOneDay(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Replica()
		coach := s.Coach(t, coachNumber)
		s.Gateway.Behave(smstest.Behaviour{Status: 500})
		before := s.Gateway.Attempts()
		player := coach.AddPlayer(t, child(1, guardianNumber))
		id := player.String("guardian_request_id")
		eventually(t, "an attempt", func() bool { return s.Gateway.Attempts() > before })
		s.Clock.Advance(day - time.Hour)
		before = s.Gateway.Attempts()
		eventually(t, "an attempt after 23 hours", func() bool { return s.Gateway.Attempts() > before })
		coach = renewTokens(t, coach)
		if state, reason := smsDelivery(getRequest(t, coach, id)); state != "queued" {
			t.Fatalf("delivery after 23 hours: got state %s, reason %s", state, reason)
		}
		s.Clock.Advance(time.Hour + time.Second)
		coach = renewTokens(t, coach)
		eventually(t, "the delivery fails", func() bool {
			state, _ := smsDelivery(getRequest(t, coach, id))
			return state == "failed"
		})
		never(t, s, "the coach does not have exactly one notification", quietPeriod, func() bool { return countNotifications(t, coach, "delivery_failed") != 1 })
	})
}
