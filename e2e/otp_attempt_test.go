package e2e_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/touchlinetest"
)

// Each token's grace is counted from the first use of its own successor.
func TestRefreshGracePerToken(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		p := s.SignIn(t, "coach", coachNumber)
		token := refresh(t, s, p.Refresh).Want(t, 200).String("refresh_token")
		for range 4 { // the successor of p.Refresh is used at the first of these, 60 s before the end
			token = refresh(t, s, token).Want(t, 200).String("refresh_token")
			s.Clock.Advance(20 * time.Second)
		}
		refresh(t, s, p.Refresh).Want(t, 401, "refresh_token_reused")
	})
}

// A device's guesses are never the shared challenge's.
func TestDeviceAttemptsAreSeparate(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		p := s.SignIn(t, "coach", coachNumber)
		s.Clock.Advance(61 * time.Second)
		shared := requestOTP(t, s, coachNumber, "") // a stranger asks
		own := requestOTP(t, s, coachNumber, p.Device)
		for i := range 5 {
			s.Call(t, "POST", "/auth/login", "", withDevice(map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(own, i)}, p.Device)).Want(t, 422, "otp_incorrect")
		}
		s.Call(t, "POST", "/auth/login", "", withDevice(map[string]any{"mobile_number": coachNumber, "otp": own}, p.Device)).Want(t, 429, "otp_attempts_exceeded")
		a := s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(shared, 1)}).Want(t, 422, "otp_incorrect")
		if a.String("attempts_left") != "4" {
			t.Errorf("the shared challenge lost tries: %s", a.Body)
		}
	})
}

// In no 24 hours are there more than ten wrong tries.
func TestAttemptLimitSlidingWindow(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		guess := func(n int, want int) {
			t.Helper()
			otp := ""
			for i := range n {
				if i%4 == 0 {
					s.Clock.Advance(6 * time.Minute)
					otp = requestOTP(t, s, coachNumber, "")
				}
				s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(otp, i)}).Want(t, want)
			}
		}
		guess(1, 422)
		s.Clock.Advance(23 * time.Hour)
		guess(8, 422) // nine
		s.Clock.Advance(time.Hour)
		guess(2, 422) // ten within the last 24 h, the first has left
		guess(1, 429)
	})
}

// Who has no tries left for a day is told so at once, not to ask for a new code: a
// number, and a device that is known.
func TestRetryAfterBlockedNumber(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		for _, device := range []string{"", s.SignIn(t, "coach", coachNumber).Device} {
			guess := func(otp string) map[string]any {
				body := map[string]any{"mobile_number": coachNumber, "otp": otp}
				if device != "" {
					body = withDevice(body, device)
				}
				return body
			}
			var otp string
			for range 2 {
				s.Clock.Advance(6 * time.Minute)
				otp = requestOTP(t, s, coachNumber, device)
				for i := range 5 {
					s.Call(t, "POST", "/auth/verify-otp", "", guess(wrongOTP(otp, i))).Want(t, 422)
				}
			}
			a := s.Call(t, "POST", "/auth/login", "", guess(otp)).Want(t, 429, "otp_attempts_exceeded")
			if wait, _ := strconv.Atoi(a.Header.Get("Retry-After")); wait < 23*3600 {
				t.Errorf("device %t: Retry-After %d: %s", device != "", wait, a.Body)
			}
		}
	})
}
