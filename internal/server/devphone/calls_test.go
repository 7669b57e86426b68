package devphone_test

import (
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
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
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
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
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
