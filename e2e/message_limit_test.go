package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestMessageLimitPerNumber: a coach can send six messages a day to one number,
// including those for deleted players and cancelled requests. The seventh is held
// and sent later.
func TestMessageLimitPerNumber(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		for i := range 6 {
			player := coach.AddPlayer(t, child(i, guardianNumber))
			s.SMS(guardianNumber, "message", i)
			if i%2 == 0 {
				coach.Call(t, "DELETE", "/api/players/"+player.String("player_id"), nil).Want(t, 204)
			} else {
				coach.Call(t, "POST", "/api/approval/requests/"+player.String("guardian_request_id")+"/cancel", nil).Want(t, 200)
			}
		}
		player := coach.AddPlayer(t, child(7, otherNumber))
		id := player.String("player_id")
		s.SMS(otherNumber, "message", 0)
		seventh := coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{
			"player_id": id, "guardian": map[string]any{"mobile_number": guardianNumber},
		}).Want(t, 201)
		waitForHeld(t, coach, seventh.String("request_id"), heldByNumber)
		if seventh.String("state") != "pending" {
			t.Errorf("seventh request: got state %s", seventh.String("state"))
		}
		// Other coaches and other numbers have their own limits.
		s.Coach(t, coach2Number).AddPlayer(t, child(8, guardianNumber))
		s.SMS(guardianNumber, "message", 6)
		never(t, s, "the seventh message was sent", quietPeriod, func() bool { return s.Sent(guardianNumber, "message") > 7 })
		s.Clock.Advance(day + time.Minute)
		held := linkPath(t, s, guardianNumber, 7)
		coach = renewTokens(t, coach)
		eventually(t, "the held message is sent", func() bool {
			state, reason := smsDelivery(getRequest(t, coach, seventh.String("request_id")))
			return state == "sent" && reason == ""
		})
		s.Call(t, "GET", held, "", nil).Want(t, 200)
	})
}

// What the coach reads about a held SMS.
const (
	heldByNumber = "Waiting: too many messages to this number. It goes out by itself."
	heldByCoach  = "Waiting: you have sent many messages today. It goes out by itself."
	heldByBudget = "Waiting: this service has spent its money for SMS for now. It goes out by itself."
)

// waitForHeld waits until the worker has held the SMS of a request, and checks that the
// coach sees why.
func waitForHeld(t *testing.T, coach *touchlinetest.User, requestID, waiting string) {
	t.Helper()
	eventually(t, "the message is held", func() bool {
		state, reason := smsDelivery(getRequest(t, coach, requestID))
		return state == "queued" && reason == "held"
	})
	if detail := smsDetail(getRequest(t, coach, requestID)); detail != waiting {
		t.Errorf("detail: got %q, want %q", detail, waiting)
	}
	for _, item := range coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items() {
		if item["request_id"] == requestID && item["blocked_by"] != "message_limit" {
			t.Errorf("blocked_by: got %v, want message_limit", item["blocked_by"])
		}
	}
}

// TestLinkValidityStartsAtSend: a held message's link is valid for its whole
// period from the time it is sent.
func TestLinkValidityStartsAtSend(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		for i := range 4 {
			coach.AddPlayer(t, child(i, guardianNumber))
		}
		for i := range 4 {
			path := linkPath(t, s, guardianNumber, i)
			s.Call(t, "GET", path, "", nil).Want(t, 200)
			never(t, s, "more than one message was sent", quietPeriod, func() bool { return s.Sent(guardianNumber, "message") > i+1 })
			s.Clock.Advance(day + time.Minute)
		}
	}, func(c *config.Config) { c.MessagesPerNumberFromCoach, c.LinkValidity = 1, 36*time.Hour })
}

// TestHeldMessageIsCancelled: a held message is not sent after its request was
// cancelled.
func TestHeldMessageIsCancelled(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		coach.AddPlayer(t, child(1, guardianNumber))
		held := coach.AddPlayer(t, child(2, guardianNumber)).String("guardian_request_id")
		s.SMS(guardianNumber, "message", 0)
		waitForHeld(t, coach, held, heldByNumber)
		coach.Call(t, "POST", "/api/approval/requests/"+held+"/cancel", nil).Want(t, 200)
		s.Clock.Advance(day + time.Minute)
		coach = renewTokens(t, coach)
		eventually(t, "the delivery ends", func() bool {
			state, _ := smsDelivery(getRequest(t, coach, held))
			return state == "failed"
		})
		if n := s.Sent(guardianNumber, "message"); n != 1 {
			t.Errorf("got %d messages, want 1", n)
		}
		if n := countNotifications(t, coach, "delivery_failed"); n != 0 {
			t.Errorf("got %d notifications about a request that the coach cancelled", n)
		}
	}, func(c *config.Config) { c.MessagesPerNumberFromCoach = 1 })
}

// TestCountries: no SMS is sent to a country that is not served.
func TestCountries(t *testing.T) {
	t.Parallel()
	const abroad = "+14155552671"
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		for _, role := range []string{"coach", "guardian", "student"} {
			s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": abroad, "role": role}).Want(t, 403, "destination_blocked")
		}
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, child(1, abroad))
		request := getRequest(t, coach, player.String("guardian_request_id"))
		if state, reason := smsDelivery(request); state != "failed" || reason != "destination_blocked" {
			t.Errorf("delivery: got state %s, reason %s", state, reason)
		}
		items := coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items()
		blocked := 0
		for _, item := range items {
			if item["approver_type"] == "guardian" && item["blocked_by"] == "delivery_failed" {
				blocked++
			}
		}
		if blocked != 1 || countNotifications(t, coach, "delivery_failed") != 1 {
			t.Errorf("got %d blocked items and %d notifications, want 1 each: %v", blocked, countNotifications(t, coach, "delivery_failed"), items)
		}
		never(t, s, "an SMS was sent abroad", quietPeriod, func() bool { return s.Sent(abroad, "otp")+s.Sent(abroad, "message") > 0 })
	}, func(c *config.Config) { c.Countries = []string{"IN"} })
}

// TestHostileNames: no name can add a link, an amount of money or text direction marks to a
// message.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	names := []string{
		"Win at evil.example", "http://evil.example/pay", "Asha\u202etxet", "Asha\u200bRao evil.example/x",
		"evil\u3002example", "www.evil.example", "me@evil.example", "Asha\u2066 evil.example", "bit.ly/3xYz",
		"evil\u2024com", "evil . com", "Win ₹5000 free", "Rs 500", "Asha 1000 INR",
	}
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, tables := s.Coach(t, coachNumber), openTables(t, s)
		sent := 0
		for i, name := range names {
			execSQL(t, tables, `UPDATE coaches SET completed = FALSE WHERE id = $1`, coach.ID) // a name that no family knows does not wait
			coach.Call(t, "PATCH", "/api/coach/profile", map[string]any{"name": name})
			body := child(i, fmt.Sprintf("+9198125%05d", i))
			body["student"].(map[string]any)["full_name"] = name
			if coach.Call(t, "POST", "/api/players/add", body).Status != 201 {
				continue // the name was refused
			}
			sent++
			text := s.SMS(fmt.Sprintf("+9198125%05d", i), "message", 0).Text
			if links := linkPattern.FindAllString(text, -1); len(links) != 1 || !strings.HasPrefix(links[0], s.Config.PublicURL+"/a/") {
				t.Errorf("%q: got links %q", name, links)
			}
			text = strings.ReplaceAll(text, s.Config.PublicURL, "")
			for _, bad := range []string{"evil.example", "evil\u3002example", "bit.ly", "@", "\u202e", "\u2066", "\u200b", "\n", "\r", "\u2024", ". com", "₹", "500", "1000"} {
				if strings.Contains(text, bad) {
					t.Errorf("%q: message contains %q", name, bad)
				}
			}
		}
		if sent == 0 {
			t.Error("all names were refused: nothing was tested")
		}
	})
}

// TestReminderLimit: two reminders in seven days. The next is allowed when the
// first is seven days old. Resends do not count.
func TestReminderLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, child(1, guardianNumber))
		other := s.Replica()
		remind := map[string]any{"player_id": player.String("player_id"), "approver_type": "guardian"}
		left := func(want string) {
			t.Helper()
			if a := coach.Call(t, "POST", "/api/approval/send-reminder", remind).Want(t, 202); a.String("reminders_left") != want {
				t.Errorf("got %s reminders left, want %s", a.String("reminders_left"), want)
			}
		}
		limited := func(want time.Duration) {
			t.Helper()
			a := coach.On(other).Call(t, "POST", "/api/approval/send-reminder", remind).Want(t, 429, "reminder_limit")
			wait, err := time.ParseDuration(a.Header.Get("Retry-After") + "s")
			if err != nil || wait > want+time.Second || wait < want-time.Minute {
				t.Errorf("got Retry-After %s, want about %s", a.Header.Get("Retry-After"), want)
			}
		}
		s.SMS(guardianNumber, "message", 0) // the request; reminders have their own queue
		left("1")
		if m := s.SMS(guardianNumber, "message", 1); !strings.HasPrefix(m.Text, "Reminder: ") {
			t.Errorf("reminder: got %q", linkPattern.ReplaceAllString(m.Text, "…"))
		}
		s.Clock.Advance(2 * day)
		coach = renewTokens(t, coach)
		coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": player.String("player_id")}).Want(t, 200)
		left("0")
		limited(5 * day)
		s.Clock.Advance(5*day - time.Minute)
		coach = renewTokens(t, coach)
		limited(time.Minute)
		s.Clock.Advance(time.Minute + time.Second)
		left("0")
		limited(2 * day)
		if n := s.Sent(guardianNumber, "message"); n < 4 {
			eventually(t, "four messages", func() bool { return s.Sent(guardianNumber, "message") == 4 })
		}
		guardian := s.SignIn(t, "guardian", guardianNumber)
		if n := countNotifications(t, guardian, "request_reminder"); n != 3 {
			t.Errorf("got %d reminders for the guardian, want 3", n)
		}
	})
}
