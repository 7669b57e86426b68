package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// respond decides about a player as one party.
func respond(t *testing.T, p *touchlinetest.User, playerID, action string) {
	t.Helper()
	p.Call(t, "PUT", "/api/approval/"+p.Role+"-response", map[string]any{"player_id": playerID, "action": action}).Want(t, 200)
}

// closeAccount closes a coach's account.
func closeAccount(t *testing.T, s *touchlinetest.Service, coach *touchlinetest.User) {
	t.Helper()
	coach.On(s).Call(t, "DELETE", "/api/me", map[string]any{"otp": requestCoachOTP(t, s, coach.Number)}).Want(t, 204)
}

// smsCopies returns the texts of messages to a number that have no link.
func smsCopies(s *touchlinetest.Service, number string) (texts []string) {
	for _, m := range s.Gateway.Accepted() {
		if m.To == number && m.Kind == "message" && !linkPattern.MatchString(m.Text) {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// TestAccountClosureSendsSMS: when a coach closes the account, each approver gets
// one SMS for all students and one notification with the same text.
func TestAccountClosureSendsSMS(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		db, r := openTables(t, s), s.Replica(func(c *config.Config) { c.Countries = []string{"IN"} })
		coach := s.Coach(t, coachNumber)
		const abroad, askedAt, noAt, backAt, studentAt, tester = "+14155552671", "+919812300031", "+919812300032", "+919812300033", "+919812300034", "+919812300035"
		numbers := []string{guardianNumber, guardianNumber, guardianNumber, askedAt, noAt, backAt, abroad, guardianNumber}
		var ids []string
		for i, number := range numbers {
			body := child(i, number)
			if i == 7 {
				body["student"].(map[string]any)["contact_number"] = studentAt
			}
			ids = append(ids, coach.AddPlayer(t, body).String("player_id"))
		}
		guardian, no, back := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "guardian", noAt), s.SignIn(t, "guardian", backAt)
		far, student := s.SignIn(t, "guardian", abroad), s.SignIn(t, "student", studentAt)
		for _, id := range ids[:2] {
			respond(t, guardian, id, "approved")
		}
		respond(t, guardian, ids[2], "rejected")
		respond(t, no, ids[4], "rejected")
		respond(t, back, ids[5], "approved")
		respond(t, back, ids[5], "revoked")
		respond(t, far, ids[6], "approved")
		respond(t, student, ids[7], "approved")
		closeAccount(t, r, coach)
		want := map[string]string{
			guardianNumber: "Coach Meera Nair closed their account at Touchline. The app is off for Asha Rao 0 and Asha Rao 1 there. You need not do anything.",
			studentAt:      "Coach Meera Nair closed their account at Touchline. The app is off for Asha Rao 7 there. You need not do anything.",
		}
		eventually(t, "both approvers get an SMS", func() bool { return len(smsCopies(s, guardianNumber)) > 0 && len(smsCopies(s, studentAt)) > 0 })
		never(t, s, "somebody got another message", quietPeriod, func() bool {
			return len(smsCopies(s, guardianNumber))+len(smsCopies(s, studentAt)) > 2 ||
				len(smsCopies(s, askedAt))+len(smsCopies(s, noAt))+len(smsCopies(s, backAt))+len(smsCopies(s, abroad))+len(smsCopies(s, coachNumber)) > 0
		})
		for number, text := range want {
			if got := smsCopies(s, number)[0]; got != text {
				t.Errorf("got %q, want %q", got, text)
			}
		}
		for _, p := range []*touchlinetest.User{guardian, student} {
			items := p.Call(t, "GET", "/api/notifications?limit=1", nil).Want(t, 200).Items()
			if countNotifications(t, p, "coach_left") != 1 || items[0]["body"] != want[p.Number] {
				t.Errorf("notifications: got %v", items)
			}
		}
		if n := countNotifications(t, far, "coach_left"); n != 1 {
			t.Errorf("foreign number: got %d notifications, want 1", n)
		}
		if n := queryOne[int](t, db, `SELECT count(*) FROM deliveries WHERE kind = 'notice' AND state <> 'sent'`); n != 0 {
			t.Errorf("got %d unfinished SMS copies", n)
		}
	})
}

// TestClosureSMSWaitsForLimit: the limit of messages per number delays
// the SMS about a closure.
func TestClosureSMSWaitsForLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		s.SMS(guardianNumber, "message", 0)
		respond(t, s.SignIn(t, "guardian", guardianNumber), id, "approved")
		closeAccount(t, s, coach)
		never(t, s, "a message was sent above the limit", quietPeriod, func() bool { return s.Sent(guardianNumber, "message") > 1 })
		s.Clock.Advance(day + time.Minute)
		if m := s.SMS(guardianNumber, "message", 1); !strings.Contains(m.Text, "closed their account") {
			t.Errorf("got %q", m.Text)
		}
	}, func(c *config.Config) { c.MessagesPerNumber = 1 })
}

// signInTestNumber signs in with a test number's fixed code.
func signInTestNumber(t *testing.T, s *touchlinetest.Service, role, number string) *touchlinetest.User {
	t.Helper()
	s.Clock.Advance(61 * time.Second)
	s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": number, "role": role}).Want(t, 202)
	a := s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": number, "role": role, "otp": "123456"}).Want(t, 200)
	return &touchlinetest.User{Service: s, Number: number, Role: role, Access: a.String("access_token"), Refresh: a.String("refresh_token")}
}

// signInTestCoach signs in a coach with a test number and completes the profile.
func signInTestCoach(t *testing.T, s *touchlinetest.Service, number string) *touchlinetest.User {
	t.Helper()
	coach := signInTestNumber(t, s, "coach", number)
	coach.Call(t, "POST", "/auth/complete-profile", map[string]any{"name": "Meera", "bio": "b", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
	return coach
}

// testNumbers configures numbers for app-store review.
func testNumbers(numbers ...phone.Number) touchlinetest.Option {
	return func(c *config.Config) {
		for _, number := range numbers {
			c.TestNumbers = append(c.TestNumbers, config.TestNumber{Number: number, Code: "123456", Until: time.Now().Add(1000 * day)})
		}
	}
}

// TestNoClosureSMSToTestNumber: app-store review numbers get no SMS about a
// closure.
func TestNoClosureSMSToTestNumber(t *testing.T) {
	t.Parallel()
	const coachAt, guardianAt = "+919900000001", "+919900000002"
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := signInTestCoach(t, s, coachAt)
		id := coach.AddPlayer(t, child(1, guardianAt)).String("player_id")
		guardian := signInTestNumber(t, s, "guardian", guardianAt)
		respond(t, guardian, id, "approved")
		s.Clock.Advance(61 * time.Second)
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachAt}).Want(t, 202)
		coach.Call(t, "DELETE", "/api/me", map[string]any{"otp": "123456"}).Want(t, 204)
		if n := countNotifications(t, guardian, "coach_left"); n != 1 {
			t.Errorf("got %d notifications, want 1", n)
		}
		never(t, s, "an SMS was sent", quietPeriod, func() bool { return len(smsCopies(s, guardianAt)) > 0 })
	}, testNumbers(coachAt, guardianAt))
}

// TestNoRequestSMSToTestNumber: a request to a test number sends and counts no
// SMS. Its delivery is sent with reason test_number.
func TestNoRequestSMSToTestNumber(t *testing.T) {
	t.Parallel()
	const coachAt, guardianAt, otherAt = "+919900000001", "+919900000002", "+919900000003"
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := signInTestCoach(t, s, coachAt)
		player := coach.AddPlayer(t, child(1, guardianAt))
		id, request := player.String("player_id"), player.String("guardian_request_id")
		noSMS := func(request string, want int) {
			t.Helper()
			n := 0
			for _, d := range getRequest(t, coach, request).JSON["deliveries"].([]any) {
				if d := d.(map[string]any); d["channel"] == "sms" {
					n++
					if d["state"] != "sent" || d["reason"] != "test_number" {
						t.Errorf("delivery: got state %v, reason %v", d["state"], d["reason"])
					}
				}
			}
			if n != want {
				t.Errorf("got %d SMS deliveries, want %d", n, want)
			}
		}
		send := map[string]any{"player_id": id}
		remind := map[string]any{"player_id": id, "approver_type": "guardian"}
		coach.Call(t, "POST", "/api/approval/send-guardian-request", send).Want(t, 409, "request_pending")
		coach.Call(t, "POST", "/api/approval/send-reminder", remind).Want(t, 202)
		noSMS(request, 2)
		s.Clock.Advance(2*day + time.Minute)
		coach = signInTestNumber(t, s, "coach", coachAt)
		coach.Call(t, "POST", "/api/approval/send-guardian-request", send).Want(t, 200)
		noSMS(request, 3)
		corrected := coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{
			"player_id": id, "guardian": map[string]any{"mobile_number": otherAt},
		}).Want(t, 201).String("request_id")
		noSMS(corrected, 1)
		for _, item := range coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items() {
			if item["request_id"] == corrected && item["blocked_by"] != nil {
				t.Errorf("blocked by %v", item["blocked_by"])
			}
		}
		if n := countNotifications(t, coach, "delivery_failed"); n != 0 {
			t.Errorf("got %d notifications of failures", n)
		}
		db := openTables(t, s)
		if n := queryOne[int](t, db, `SELECT count(*) FROM message_counts`) + queryOne[int](t, db, `SELECT count(*) FROM request_links`); n != 0 {
			t.Errorf("got %d counts and links for messages that were not sent", n)
		}
		never(t, s, "an SMS was sent", quietPeriod, func() bool { return s.Sent(guardianAt, "message")+s.Sent(otherAt, "message") > 0 })
	}, testNumbers(coachAt, guardianAt, otherAt), func(c *config.Config) { c.MessagesPerNumberFromCoach = 1 })
}

// TestHeldMessageToTestNumber: a held message is not sent if its number has
// become a test number.
func TestHeldMessageToTestNumber(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		coach.AddPlayer(t, child(1, guardianNumber))
		held := coach.AddPlayer(t, child(2, guardianNumber)).String("guardian_request_id")
		s.SMS(guardianNumber, "message", 0)
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		s.Clock.Advance(day + time.Minute)
		r := s.Replica(testNumbers(guardianNumber))
		coach = renewTokens(t, coach.On(r))
		eventually(t, "the delivery is done", func() bool {
			state, reason := smsDelivery(getRequest(t, coach, held))
			return state == "sent" && reason == "test_number"
		})
		if n := s.Sent(guardianNumber, "message"); n != 1 {
			t.Errorf("got %d messages, want 1", n)
		}
	}, func(c *config.Config) { c.MessagesPerNumberFromCoach = 1 })
}

// TestPlayerRemovalSendsSMS: an approver of a removed player gets an SMS if no
// other player names the number, because the number can no longer sign in.
// Otherwise a notification is enough. A party without an approval, or whose
// number was corrected, gets no SMS.
func TestPlayerRemovalSendsSMS(t *testing.T) {
	t.Parallel()
	const askedAt, correctedAt = "+919812300031", "+919812300032"
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		add := func(n int, number string) string { return coach.AddPlayer(t, child(n, number)).String("player_id") }
		first, second, waiting, corrected := add(1, guardianNumber), add(2, guardianNumber), add(3, askedAt), add(4, correctedAt)
		guardian, old := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "guardian", correctedAt)
		respond(t, guardian, first, "approved")
		respond(t, guardian, second, "approved")
		respond(t, old, corrected, "approved")
		remove := func(id string) { coach.Call(t, "DELETE", "/api/players/"+id, nil).Want(t, 204) }
		coach.Call(t, "PATCH", "/api/players/"+corrected, map[string]any{"guardian": map[string]any{"mobile_number": otherNumber}}).Want(t, 200)
		remove(first)
		remove(waiting)
		db := openTables(t, s)
		eventually(t, "the first message is dropped", func() bool {
			return queryOne[int](t, db, `SELECT count(*) FROM deliveries WHERE kind = 'notice' AND state = 'failed' AND reason = 'not_wanted'`) == 1
		})
		remove(second)
		eventually(t, "the guardian gets an SMS", func() bool { return len(smsCopies(s, guardianNumber)) > 0 })
		want := fmt.Sprint([]string{"Coach Meera Nair took Asha Rao 2 off the list at Touchline. The app is off for Asha Rao 2 there. You need not do anything."})
		if got := fmt.Sprint(smsCopies(s, guardianNumber)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if n := countNotifications(t, guardian, "player_removed"); n != 2 {
			t.Errorf("got %d notifications", n)
		}
		never(t, s, "somebody else got an SMS", quietPeriod, func() bool {
			return len(smsCopies(s, askedAt))+len(smsCopies(s, correctedAt))+len(smsCopies(s, otherNumber))+len(smsCopies(s, guardianNumber)) > 1
		})
	})
}
