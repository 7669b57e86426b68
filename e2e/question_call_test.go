package e2e_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message/sms/smstest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// untilCalls returns how long it takes until a family may be called: 48 h, and on to noon in India.
func untilCalls(now time.Time) time.Duration {
	at := now.Add(48 * time.Hour).UTC()
	noon := time.Date(at.Year(), at.Month(), at.Day(), 6, 30, 0, 0, time.UTC)
	if noon.Before(at) {
		noon = noon.AddDate(0, 0, 1)
	}
	return noon.Sub(now)
}

// TestFirstDayOnPhones is the first day of a coach with serve alone: the guardian presses Yes twice in the
// chat, the student hears a call and presses 2, and the coach's page shows both.
func TestFirstDayOnPhones(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		p := startServer(t, "TOUCHLINE_DATABASE_URL="+database)
		s := touchlinetest.At(p.url)
		phone := func(number string, n int) map[string]any {
			t.Helper()
			var items []map[string]any
			eventually(t, "the phone "+number+" has a message", func() bool {
				items = s.Call(t, "GET", "/dev/messages?number="+url.QueryEscape(number), "", nil).Want(t, 200).Items()
				return len(items) >= n
			})
			return items[0]
		}
		coach, phones := s.Browser(t), s.Browser(t)
		signIn := func(n int) {
			t.Helper()
			coach.Open("/sign-in/coach")
			coach.Press("Send me a code", "number", coachNumber)
			coach.Press("Continue", "code", phone(coachNumber, n)["code"].(string))
		}
		body := object{"mobile_number": coachNumber, "role": "coach"}
		s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, 202)
		body["otp"] = phone(coachNumber, 1)["code"]
		token := s.Call(t, "POST", "/auth/login", "", body).Want(t, 200).String("access_token")
		s.Call(t, "POST", "/auth/complete-profile", token, object{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
		player := "/coach/players/" + s.Call(t, "POST", "/api/players/add", token, touchlinetest.Minor(guardianNumber, studentNumber)).Want(t, 201).String("player_id")

		phone(guardianNumber, 1)
		phones.Open("/dev/phones?number=" + url.QueryEscape(guardianNumber))
		phones.Press("Yes")
		phones.Open("/dev/phones?number=" + url.QueryEscape(guardianNumber))
		phones.Press("Yes, for Asha")
		signIn(2)
		if page := coach.Open(player).Text(); !strings.Contains(page, "yes") || strings.Contains(page, "Call +91") {
			t.Errorf("after the yes of the guardian: %s", page)
		}

		s.Call(t, "POST", "/dev/clock", "", object{"advance": untilCalls(time.Now()).Round(time.Second).String()}).Want(t, 200)
		signIn(3)
		coach.Open(player)
		if page := coach.Press("Call +91 98123 00021 now").Text(); !strings.Contains(page, "We call them now.") {
			t.Errorf("after the press: %s", page)
		}
		call := phone(studentNumber, 2)
		if text, _ := call["text"].(string); call["channel"] != "voice" || !strings.Contains(text, "Press 1 for yes, 2 for no") {
			t.Errorf("the call: got %v", call)
		}
		phones.Open("/dev/phones?number=" + url.QueryEscape(studentNumber))
		if page := phones.Press("2").Text(); !strings.Contains(page, "You said no for Asha Rao") {
			t.Errorf("the phone after 2: %s", page)
		}
		if page := coach.Open(player + "?tab=history").Text(); !strings.Contains(page, "The student said no") || !strings.Contains(page, "Call: a person listened") {
			t.Errorf("the coach's page: %s", page)
		}
	})
}

// TestQuestionByTwilio: a call of Twilio asks the question. Forged, repeated, late and reordered keys and a
// mailbox decide nothing; 1 and 1 say yes.
func TestQuestionByTwilio(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		twilio := smstest.NewTwilio(t)
		s := touchlinetest.New(t, database, func(c *config.Config) { c.Voice = config.SecretURL(twilio.Spec()) })
		coach := s.Coach(t, coachNumber)
		added := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		status := func() *touchlinetest.Response {
			return coach.Call(t, "GET", "/api/players/approval-status/"+added.String("player_id"), nil).Want(t, 200)
		}
		s.Clock.Advance(untilCalls(s.Clock.Now()))
		coach = s.SignIn(t, "coach", coachNumber)
		ask := func(party string) (requestID string, n int) {
			t.Helper()
			requestID, n = status().String(party+"_request.request_id"), len(twilio.Calls())
			coach.Call(t, "POST", "/api/approval/requests/"+requestID+"/call", nil).Want(t, 200)
			eventually(t, "Twilio calls", func() bool { return len(twilio.Calls()) > n })
			return requestID, n
		}
		detail := func(requestID string) string {
			deliveries, _ := coach.Call(t, "GET", "/api/approval/requests/"+requestID, nil).Want(t, 200).JSON["deliveries"].([]any)
			last, _ := deliveries[len(deliveries)-1].(map[string]any)
			text, _ := last["detail"].(string)
			return text
		}

		// The guardian: a mailbox, then a person who says yes.
		id, n := ask("guardian")
		if to := twilio.Calls()[n].Get("To"); to != guardianNumber || strings.Contains(twilio.Calls()[n].Encode(), "Asha") {
			t.Errorf("Twilio gets %s", twilio.Calls()[n].Encode())
		}
		asked := twilio.Answer(t, n)
		if !strings.Contains(strings.Join(asked.Said, " "), "added Asha Rao") || asked.Action == "" {
			t.Fatalf("the question: got %+v", asked)
		}
		if silent := twilio.Press(t, n, asked, ""); silent.Action != "" || !strings.Contains(silent.Said[0], "nothing changed") {
			t.Errorf("a mailbox: got %+v", silent)
		}
		check := twilio.Press(t, n, asked, "1")
		if again := twilio.Press(t, n, asked, "1"); again.Action == "" || !strings.Contains(again.Said[1], "Press 1 again") {
			t.Errorf("1 repeated: got %+v", again)
		}
		forged := []string{check.Action[:len(check.Action)-1] + "B", strings.Replace(check.Action, "sure", "ask", 1)}
		for _, address := range forged {
			twilio.Press(t, n, smstest.TwiML{Action: address}, "1")
		}
		if res := twilio.Post(t, check.Action, twilio.CallForm(n, "in-progress", url.Values{"Digits": {"1"}}), "another"); res.StatusCode != 401 {
			t.Errorf("a forged key: %s, want 401", res.Status)
		}
		if got := status().String("guardian_status"); got != "pending" {
			t.Fatalf("before the second 1: got %s", got)
		}
		twilio.CallStatus(t, n, "completed", twilio.Token) // reordered: the key follows
		if done := twilio.Press(t, n, check, "1"); done.Action != "" || !strings.Contains(done.Said[0], "You said yes for Asha Rao to coach Meera Nair.") {
			t.Errorf("1 and 1: got %+v", done)
		}
		for _, key := range []string{"1", "2"} {
			if late := twilio.Press(t, n, check, key); !strings.Contains(late.Said[0], "Nothing changed. You said yes") {
				t.Errorf("%s repeated: got %+v", key, late)
			}
		}
		got := status()
		if got.String("guardian_status") != "approved" || got.String("student_status") != "pending" || detail(id) != "Called, and a person listened." {
			t.Errorf("after 1 and 1: got %s, %q", got.Body, detail(id))
		}
		if via, _ := got.JSON["history"].([]any)[0].(map[string]any); via["via"] != "voice" {
			t.Errorf("history: got %v", via)
		}

		// The student answers on the page while the call asks.
		_, n = ask("student")
		check = twilio.Press(t, n, twilio.Answer(t, n), "1")
		student := s.SignIn(t, "student", studentNumber)
		student.Call(t, "PUT", "/api/approval/student-response", object{"player_id": added.String("player_id"), "action": "rejected"}).Want(t, 200)
		if late := twilio.Press(t, n, check, "1"); !strings.Contains(late.Said[0], "Nothing changed. You said no") {
			t.Errorf("after the page: got %+v", late)
		}
		if got := status().String("student_status"); got != "rejected" {
			t.Errorf("after the page: got %s", got)
		}
		if strings.Contains(s.Log.String(), strings.TrimPrefix(studentNumber, "+")) {
			t.Error("the log has the number")
		}
	})
}

// TestUnansweredCall: the coach sees that no person answered, or that the number does not exist. No SMS takes over.
func TestUnansweredCall(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		twilio := smstest.NewTwilio(t)
		s := touchlinetest.New(t, database, func(c *config.Config) { c.Voice = config.SecretURL(twilio.Spec()) })
		coach := s.Coach(t, coachNumber)
		added := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		s.Clock.Advance(untilCalls(s.Clock.Now()))
		coach = s.SignIn(t, "coach", coachNumber)
		got := coach.Call(t, "GET", "/api/players/approval-status/"+added.String("player_id"), nil).Want(t, 200)
		for i, tt := range []struct{ party, number, status, detail string }{
			{"guardian", guardianNumber, "no-answer", "Called, no answer. Talk to the person, or send a reminder."},
			{"student", studentNumber, "failed", "The call failed: no call can reach this number. Check the number."},
		} {
			eventually(t, "the SMS with the question left", func() bool { return s.Sent(tt.number, "message") == 1 })
			id := got.String(tt.party + "_request.request_id")
			coach.Call(t, "POST", "/api/approval/requests/"+id+"/call", nil).Want(t, 200)
			eventually(t, "Twilio calls", func() bool { return len(twilio.Calls()) > i })
			twilio.CallStatus(t, i, tt.status, twilio.Token)
			r := coach.Call(t, "GET", "/api/approval/requests/"+id, nil).Want(t, 200)
			deliveries, _ := r.JSON["deliveries"].([]any)
			last, _ := deliveries[len(deliveries)-1].(map[string]any)
			if last["channel"] != "voice" || last["state"] != "failed" || last["detail"] != tt.detail || r.String("state") != "pending" {
				t.Errorf("%s: got %v", tt.status, last)
			}
			coach.Call(t, "POST", "/api/approval/requests/"+id+"/call", nil).Want(t, 429, "call_limit")
			s.Clock.Advance(time.Minute)
			if n := s.Sent(tt.number, "message"); n != 1 {
				t.Errorf("%s: %d SMS, want 1", tt.status, n)
			}
		}
	})
}
