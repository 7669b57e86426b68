package devphone_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestOTPByCall: a call speaks the code that also came by SMS, and a person signs in with it. A number
// that holds no role gets no call and the same response.
func TestOTPByCall(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		b := s.Browser(t)
		b.Open("/sign-in/coach")
		b.Press("Send me a code", "number", coachNumber)
		code := messagesOf(t, s, coachNumber, 1)[0]["code"].(string)
		s.Clock.Advance(61 * time.Second) // otp_resend_after
		if page := b.Press("Call me with the code").Text(); !strings.Contains(page, "We are calling you now.") {
			t.Errorf("the page does not say that a call comes: %s", page)
		}
		call := messagesOf(t, s, coachNumber, 2)[0]
		if text, _ := call["text"].(string); call["channel"] != "voice" || call["code"] != code || strings.Count(text, "Here it is again") != 1 || strings.Contains(text, code) {
			t.Errorf("the call: got %v, want the code %s in words", call, code)
		}
		body := map[string]any{"mobile_number": coachNumber, "role": "coach", "channel": "voice", "otp": code}
		token := s.Call(t, "POST", "/auth/login", "", body).Want(t, 200).String("access_token")
		s.Call(t, "POST", "/auth/complete-profile", token, map[string]any{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)

		// No coach has entered this number.
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": guardianNumber, "role": "guardian", "channel": "voice"}).Want(t, 202)
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber, "role": "coach", "channel": "voice"}).Want(t, 202)
		messagesOf(t, s, coachNumber, 3)
		if got := messagesOf(t, s, guardianNumber, 0); len(got) != 0 {
			t.Errorf("a number without a role got %v", got)
		}
	}, development, func(c *config.Config) { c.Voice = "log" })
}

// TestNoCalls: where no calls are configured, the page offers none and the API says so.
func TestNoCalls(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), development)
	body := map[string]any{"mobile_number": coachNumber, "role": "coach", "channel": "voice"}
	if got := s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, 422, "validation_failed"); !strings.Contains(string(got.Body), "This service makes no calls") {
		t.Errorf("got %s", got.Body)
	}
	b := s.Browser(t)
	b.Open("/sign-in/coach")
	if page := b.Press("Send me a code", "number", coachNumber).Text(); strings.Contains(page, "Call me") {
		t.Errorf("the page offers a call: %s", page)
	}
}

// TestCallsCountAsSMS: codes by call and by SMS use up the same limit of a number and wait for each other.
func TestCallsCountAsSMS(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		for i, channel := range []string{"sms", "voice", "voice", "sms"} {
			body := map[string]any{"mobile_number": coachNumber, "role": "coach", "channel": channel}
			if i > 1 {
				s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, 429, "otp_send_limit")
				continue
			}
			s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, 202)
			s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, 429, "otp_resend_too_soon")
			s.Clock.Advance(61 * time.Second)
		}
	}, development, func(c *config.Config) { c.Voice, c.OTPSendsPerHour, c.OTPResendAfter = "log", 2, time.Minute })
}

const studentNumber = "+919812300012"

// waitForCalls moves the clock by 48 h, and on to noon in India, when a family may be called.
func waitForCalls(s *touchlinetest.Service) {
	later := s.Clock.Now().Add(48 * time.Hour).UTC()
	noon := time.Date(later.Year(), later.Month(), later.Day(), 6, 30, 0, 0, time.UTC)
	if noon.Before(later) {
		noon = noon.AddDate(0, 0, 1)
	}
	s.Clock.Advance(noon.Sub(s.Clock.Now()))
}

// pressKeys presses keys of the newest call on a phone, one after the other.
func pressKeys(b *touchlinetest.Browser, number string, keys ...string) *touchlinetest.Page {
	page := b.Open("/dev/phones?number=" + url.QueryEscape(number))
	for _, key := range keys {
		page = b.Press(key)
	}
	return page
}

// TestQuestionByCall: the coach asks for a call to a student without an answer. The student hears the question and
// presses 2, and the coach's page shows it at once.
func TestQuestionByCall(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		token := signIn(t, s, "coach", coachNumber, 1)
		s.Call(t, "POST", "/auth/complete-profile", token, map[string]any{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
		player := s.Call(t, "POST", "/api/players/add", token, touchlinetest.Minor(guardianNumber, studentNumber)).Want(t, 201).String("player_id")
		request := func() *touchlinetest.Response {
			return s.Call(t, "GET", "/api/players/approval-status/"+player, token, nil).Want(t, 200)
		}
		id := request().String("student_request.request_id")
		early := s.Call(t, "POST", "/api/approval/requests/"+id+"/call", token, nil).Want(t, 409, "call_too_early")
		if at, err := time.Parse(time.RFC3339, early.String("retry_at")); err != nil || at.Sub(s.Clock.Now()).Round(time.Minute) != 48*time.Hour || early.Header.Get("Retry-After") == "" {
			t.Errorf("too early: got %s, %v", early.Body, err)
		}
		b := s.Browser(t)
		signInPages(t, s, b, 2)
		if page := b.Open("/coach/players/" + player).Text(); strings.Contains(page, "Call +91") {
			t.Errorf("the page offers a call before 48 h: %s", page)
		}
		waitForCalls(s)
		signInPages(t, s, b, 3)
		page := b.Open("/coach/players/" + player)
		if !strings.Contains(page.Text(), "The call asks in this language: English.") {
			t.Errorf("the page offers no call: %s", page.Text())
		}
		student := pressOf(t, page.Text(), "Call +91 98123 00012 now")
		twice := *b
		for _, form := range []*touchlinetest.Browser{b, &twice} { // the same form, sent twice
			if page = form.Press(student); !strings.Contains(page.Text(), "We call them now.") {
				t.Errorf("after the press: %s", page.Text())
			}
		}
		token = signIn(t, s, "coach", coachNumber, 4)
		s.Call(t, "POST", "/api/approval/requests/"+id+"/call", token, nil).Want(t, 429, "call_limit")

		call := messagesOf(t, s, studentNumber, 2)[0]
		if text, _ := call["text"].(string); call["channel"] != "voice" || call["code"] != nil || !strings.Contains(text, "May ") || strings.Contains(text, "://") || !strings.Contains(text, "Press 1 for yes, 2 for no") || len(call["buttons"].([]any)) != 5 {
			t.Fatalf("the call: got %v", call)
		}
		phones := s.Browser(t)
		if page := pressKeys(phones, studentNumber, "1", "9", "2").Text(); !strings.Contains(page, "Press 1 again to say yes") || !strings.Contains(page, "You said no for Asha Rao to coach Meera Nair.") {
			t.Errorf("the phone shows %s", page)
		}
		if n := len(messagesOf(t, s, studentNumber, 8)[0]["buttons"].([]any)); n != 0 {
			t.Errorf("the call that ended has %d buttons", n)
		}
		got := request()
		if got.String("student_status") != "rejected" || got.String("guardian_status") != "pending" {
			t.Errorf("after 2: got %s", got.Body)
		}
		r := s.Call(t, "GET", "/api/approval/requests/"+id, token, nil).Want(t, 200)
		deliveries, _ := r.JSON["deliveries"].([]any)
		last, _ := deliveries[len(deliveries)-1].(map[string]any)
		if r.String("via") != "voice" || last["channel"] != "voice" || last["state"] != "delivered" || last["detail"] != "Called, and a person listened." {
			t.Errorf("the request: got via %s, call %v", r.String("via"), last)
		}
		if page := b.Open("/coach/players/" + player + "?tab=history").Text(); !strings.Contains(page, "Call: a person listened") {
			t.Errorf("the history: %s", page)
		}
		if strings.Contains(s.Log.String(), strings.TrimPrefix(studentNumber, "+")) {
			t.Error("the log has the number that was called")
		}

		// The guardian hangs up, which decides nothing.
		b.Open("/coach/players/" + player)
		b.Press("Call +91 98123 00011 now")
		messagesOf(t, s, guardianNumber, 2)
		if page := pressKeys(phones, guardianNumber, "1", "Hang up").Text(); strings.Contains(page, "You said yes") {
			t.Errorf("the phone shows %s", page)
		}
		if page := b.Open("/coach/players/" + player).Text(); !strings.Contains(page, "Call: a person listened") || !strings.Contains(page, "You can have them called again from") {
			t.Errorf("the coach's page after the call: %s", page)
		}
		if got := request(); got.String("guardian_status") != "pending" {
			t.Errorf("after hanging up: got %s", got.Body)
		}
	}, development, func(c *config.Config) { c.Voice = "log" })
}

// TestHangUpWithoutKey: a call that is hung up before a key is recorded as real providers report it.
func TestHangUpWithoutKey(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		token := signIn(t, s, "coach", coachNumber, 1)
		s.Call(t, "POST", "/auth/complete-profile", token, map[string]any{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
		player := s.Call(t, "POST", "/api/players/add", token, touchlinetest.Minor(guardianNumber, "")).Want(t, 201).String("player_id")
		waitForCalls(s)
		token = signIn(t, s, "coach", coachNumber, 2)
		id := s.Call(t, "GET", "/api/players/approval-status/"+player, token, nil).Want(t, 200).String("guardian_request.request_id")
		s.Call(t, "POST", "/api/approval/requests/"+id+"/call", token, nil).Want(t, 200)
		messagesOf(t, s, guardianNumber, 2)
		pressKeys(s.Browser(t), guardianNumber, "Hang up")
		r := s.Call(t, "GET", "/api/approval/requests/"+id, token, nil).Want(t, 200)
		deliveries, _ := r.JSON["deliveries"].([]any)
		last, _ := deliveries[len(deliveries)-1].(map[string]any)
		if last["channel"] != "voice" || last["state"] != "failed" || last["detail"] != "Called. Someone or a mailbox answered and pressed no key. Nothing was decided." {
			t.Errorf("got the call %v", last)
		}
	}, development, func(c *config.Config) { c.Voice = "log" })
}

// signInPages signs the coach in with the code on the phone, its nth message.
func signInPages(t *testing.T, s *touchlinetest.Service, b *touchlinetest.Browser, n int) {
	t.Helper()
	b.Open("/sign-in/coach")
	b.Press("Send me a code", "number", coachNumber)
	b.Press("Continue", "code", messagesOf(t, s, coachNumber, n)[0]["code"].(string))
}

// pressOf checks that a page has a text, and returns it.
func pressOf(t *testing.T, page, label string) string {
	t.Helper()
	if !strings.Contains(page, label) {
		t.Fatalf("the page has no %q: %s", label, page)
	}
	return label
}

// TestNoQuestionByCall: where no calls are configured, the page offers none and the API says so.
func TestNoQuestionByCall(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), development)
	token := signIn(t, s, "coach", coachNumber, 1)
	s.Call(t, "POST", "/auth/complete-profile", token, map[string]any{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
	player := s.Call(t, "POST", "/api/players/add", token, touchlinetest.Minor(guardianNumber, "")).Want(t, 201).String("player_id")
	waitForCalls(s)
	token = signIn(t, s, "coach", coachNumber, 2)
	id := s.Call(t, "GET", "/api/players/approval-status/"+player, token, nil).Want(t, 200).String("guardian_request.request_id")
	s.Call(t, "POST", "/api/approval/requests/"+id+"/call", token, nil).Want(t, 409, "voice_not_configured")
	b := s.Browser(t)
	signInPages(t, s, b, 3)
	if page := b.Open("/coach/players/" + player).Text(); strings.Contains(page, "Call +91") {
		t.Errorf("the page offers a call: %s", page)
	}
}

// TestQuestionInTheEvening: after 20 o'clock the page says from when a call is possible, and so does the API. In the
// morning the call speaks the language of the person.
func TestQuestionInTheEvening(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		token := signIn(t, s, "coach", coachNumber, 1)
		s.Call(t, "POST", "/auth/complete-profile", token, map[string]any{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
		body := touchlinetest.Minor(guardianNumber, "")
		body["guardian"].(map[string]any)["language"] = "hi"
		player := s.Call(t, "POST", "/api/players/add", token, body).Want(t, 201).String("player_id")
		waitForCalls(s)
		s.Clock.Advance(9 * time.Hour) // 21:00 in India
		token = signIn(t, s, "coach", coachNumber, 2)
		id := s.Call(t, "GET", "/api/players/approval-status/"+player, token, nil).Want(t, 200).String("guardian_request.request_id")
		at := s.Call(t, "POST", "/api/approval/requests/"+id+"/call", token, nil).Want(t, 409, "call_hours").String("retry_at")
		if !strings.HasSuffix(at, "T03:30:00Z") {
			t.Errorf("possible from %s, want 09:00 in India", at)
		}
		b := s.Browser(t)
		signInPages(t, s, b, 3)
		if page := b.Open("/coach/players/" + player).Text(); !strings.Contains(page, "We can call them with the question from 09:00, their time.") || strings.Contains(page, "Call +91") {
			t.Errorf("in the evening: %s", page)
		}
		s.Clock.Advance(13 * time.Hour)
		signInPages(t, s, b, 4)
		if page := b.Open("/coach/players/" + player).Text(); !strings.Contains(page, "The call asks in this language: Hindi.") {
			t.Errorf("in the morning: %s", page)
		}
		b.Press("Call +91 98123 00011 now")
		if text, _ := messagesOf(t, s, guardianNumber, 2)[0]["text"].(string); !strings.Contains(text, "हाँ के लिए 1 दबाएँ") {
			t.Errorf("the call says %q", text)
		}
	}, development, func(c *config.Config) { c.Voice = "log" })
}
