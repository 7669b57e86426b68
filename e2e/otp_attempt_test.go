package e2e_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestDeviceAttemptsAreSeparate: attempts with a device's code do not count for
// the number's shared challenge.
func TestDeviceAttemptsAreSeparate(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		p := s.SignIn(t, "coach", coachNumber)
		s.Clock.Advance(61 * time.Second)
		shared := requestOTP(t, s, coachNumber, "") // without the device
		own := requestOTP(t, s, coachNumber, p.Device)
		for i := range 5 {
			s.Call(t, "POST", "/auth/login", "", withDevice(map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(own, i)}, p.Device)).Want(t, 422, "otp_incorrect")
		}
		s.Call(t, "POST", "/auth/login", "", withDevice(map[string]any{"mobile_number": coachNumber, "otp": own}, p.Device)).Want(t, 429, "otp_attempts_exceeded")
		a := s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(shared, 1)}).Want(t, 422, "otp_incorrect")
		if a.String("attempts_left") != "4" {
			t.Errorf("shared challenge: got %s, want 4 attempts left", a.Body)
		}
	})
}

// TestAttemptLimitSlidingWindow: at most ten failed attempts in any 24 hours.
func TestAttemptLimitSlidingWindow(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		attempt := func(n int) {
			t.Helper()
			otp := ""
			for i := range n {
				if i%4 == 0 {
					s.Clock.Advance(6 * time.Minute)
					otp = requestOTP(t, s, coachNumber, "")
				}
				s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(otp, i)}).Want(t, 422)
			}
		}
		attempt(1)
		s.Clock.Advance(23 * time.Hour)
		attempt(8) // nine in total
		s.Clock.Advance(time.Hour)
		attempt(2) // ten in the last 24 h; the first no longer counts
		s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": coachNumber, "otp": "123456"}).Want(t, 429, "otp_attempts_exceeded")
		s.Clock.Advance(6 * time.Minute)
		wantBlocked(t, s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}), s.Clock.Now())
	})
}

// TestRetryAfterBlockedNumber: a number or device without attempts left for the
// day gets a Retry-After until then, not advice to request a new code.
func TestRetryAfterBlockedNumber(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		for _, device := range []string{"", s.SignIn(t, "coach", coachNumber).Device} {
			request := func(otp string) map[string]any {
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
					s.Call(t, "POST", "/auth/verify-otp", "", request(wrongOTP(otp, i))).Want(t, 422)
				}
			}
			a := s.Call(t, "POST", "/auth/login", "", request(otp)).Want(t, 429, "otp_attempts_exceeded")
			if wait, _ := strconv.Atoi(a.Header.Get("Retry-After")); wait < 23*3600 {
				t.Errorf("device %t: got Retry-After %d: %s", device != "", wait, a.Body)
			}
		}
	})
}

// TestRetryAfterExhaustedOTP: after too many attempts, a new code can be
// requested after the usual wait.
func TestRetryAfterExhaustedOTP(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
		otp := s.OTP(coachNumber, 0)
		s.Clock.Advance(20 * time.Second)
		for i := range 5 {
			s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(otp, i)}).Want(t, 422, "otp_incorrect")
		}
		exhausted := s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp}).Want(t, 429, "otp_attempts_exceeded")
		if wait, err := time.ParseDuration(exhausted.Header.Get("Retry-After") + "s"); err != nil || wait > 41*time.Second || wait < 30*time.Second {
			t.Fatalf("Retry-After: got %q, want 30 to 41 s", exhausted.Header.Get("Retry-After"))
		}
		s.Clock.Advance(41 * time.Second)
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
		if fresh := s.OTP(coachNumber, 1); fresh == otp {
			t.Fatal("got the exhausted code again")
		}
	})
}
