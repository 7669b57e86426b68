package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestSMSBudget: at 80 % of SMS_BUDGET messages wait and new coaches get no OTP. At 100 %
// every request for an OTP is refused alike, also for numbers without the role. A day later
// all is sent.
func TestSMSBudget(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		scraper := s.Operator(t, operator.Metrics)
		coach := s.Coach(t, coachNumber) // one OTP of 0.5
		for i, number := range []string{guardianNumber, otherNumber} {
			coach.AddPlayer(t, child(i, number))
			s.SMS(number, "message", 0)
		}
		otp := func(role, number string) *touchlinetest.Response {
			s.Clock.Advance(61 * time.Second)
			return s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": number, "role": role})
		}
		otp("coach", coach2Number).Want(t, 202)
		s.OTP(coach2Number, 0)
		held := coach.AddPlayer(t, child(2, "+919812300031")).String("guardian_request_id")
		waitForHeld(t, coach, held, heldByBudget)
		refused := otp("coach", "+919812300032").Want(t, 429, "otp_send_limit")
		if refused.String("limit") != "sms_budget" || refused.Header.Get("Retry-After") == "" {
			t.Errorf("a new coach: got %v", refused.JSON)
		}
		otp("guardian", guardianNumber).Want(t, 202)
		s.OTP(guardianNumber, 0)
		for _, number := range []string{otherNumber, "+919812300033"} {
			if a := otp("guardian", number).Want(t, 429, "otp_send_limit"); a.String("limit") != "sms_budget" {
				t.Errorf("guardian %s: got %v", number, a.JSON)
			}
		}
		s.Clock.Advance(time.Minute)
		eventually(t, "the log warns", func() bool { return strings.Contains(s.Log.String(), "80 % of SMS_BUDGET are spent") })
		if text := string(scraper.Call(t, "GET", "/metrics", nil).Want(t, 200).Body); !strings.Contains(text, "touchline_sms_cost 2.5") || !strings.Contains(text, "touchline_sms_budget 2.5") {
			t.Errorf("metrics: got %q", text)
		}
		s.Clock.Advance(day)
		s.SMS("+919812300031", "message", 0)
		otp("guardian", otherNumber).Want(t, 202)
	}, func(c *config.Config) {
		c.SMSBudget, c.SMSPrices = config.Budget{SMS: 25_000}, []config.SMSPrice{{Country: "*", Price: 5_000}}
	})
}
