package e2e_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// wrongOTP returns the nth wrong code.
func wrongOTP(otp string, n int) string {
	for i := 0; ; i++ {
		if code := fmt.Sprintf("%06d", i); code != otp {
			if n--; n < 0 {
				return code
			}
		}
	}
}

// TestConcurrentWrongOTPs: of 400 concurrent wrong codes on two replicas, five
// count as attempts. Then even the correct code is refused.
//
// It does not run in parallel with other tests: with less CPU, some requests would
// time out with unavailable. More at once would only wait for a connection.
func TestConcurrentWrongOTPs(t *testing.T) {
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		replicas := []*touchlinetest.Service{s, s.Replica()}
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
		otp := s.OTP(coachNumber, 0)

		const wrongCodes, atOnce = 400, 16
		codes := make(chan string, wrongCodes)
		var wait sync.WaitGroup
		for w := range atOnce {
			wait.Go(func() {
				for i := range wrongCodes / atOnce {
					a, err := replicas[i%2].Do(context.Background(), "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(otp, w*wrongCodes/atOnce+i)})
					if err != nil {
						codes <- err.Error()
						continue
					}
					codes <- a.Code()
				}
			})
		}
		wait.Wait()
		close(codes)
		count := map[string]int{}
		for code := range codes {
			count[code]++
		}
		if count["otp_incorrect"] != 5 || count["otp_attempts_exceeded"] != wrongCodes-5 {
			t.Fatalf("got %v, want 5 attempts of %d", count, wrongCodes)
		}
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp}).Want(t, 429, "otp_attempts_exceeded")
	}, touchlinetest.ManyConnections)
}

// TestDailyAttemptLimit: ten failed attempts over all codes block a number for a
// day, but not a known device.
func TestDailyAttemptLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		known := s.SignIn(t, "coach", coachNumber)
		for round := range 2 {
			s.Clock.Advance(2 * time.Minute)
			before := s.Sent(coachNumber, "otp")
			s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
			otp := s.OTP(coachNumber, before)
			for i := range 5 {
				a := s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(otp, i)}).Want(t, 422, "otp_incorrect")
				if got, want := a.String("attempts_left"), fmt.Sprint(4-i); got != want {
					t.Fatalf("round %d: got attempts_left %s, want %s", round, got, want)
				}
			}
		}
		s.Clock.Advance(2 * time.Minute)
		before := s.Sent(coachNumber, "otp")
		for _, role := range []string{"coach", "guardian"} { // the number holds one of them
			wantBlocked(t, s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber, "role": role}), s.Clock.Now())
		}
		blocked := s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": "123456"}).Want(t, 429, "otp_attempts_exceeded")
		if blocked.Header.Get("Retry-After") == "" {
			t.Fatal("Retry-After is missing")
		}
		if got := s.Sent(coachNumber, "otp"); got != before {
			t.Errorf("%d SMS left with codes that cannot be used", got-before)
		}
		// The device has its own challenge and attempts.
		before = s.Sent(coachNumber, "otp")
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber, "device_token": known.Device}).Want(t, 202)
		otp := s.OTP(coachNumber, before)
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp, "device_token": known.Device}).Want(t, 200)

		s.Clock.Advance(25 * time.Hour)
		s.SignIn(t, "coach", coachNumber)
	})
}

// TestCorrectOTPKeepsAttemptLimit: failed attempts count for a day from the
// first, even after correct codes.
func TestCorrectOTPKeepsAttemptLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		ask := func() string {
			t.Helper()
			s.Clock.Advance(2 * time.Minute)
			before := s.Sent(coachNumber, "otp")
			s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
			return s.OTP(coachNumber, before)
		}
		otp := ask()
		for i := range 5 {
			s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(otp, i)}).Want(t, 422, "otp_incorrect")
		}
		otp = ask()
		for i := range 4 {
			s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(otp, i)}).Want(t, 422, "otp_incorrect")
		}
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp}).Want(t, 200)
		for range 3 {
			s.Clock.Advance(21 * time.Hour)
			s.SignIn(t, "coach", coachNumber)
		}
		otp = ask()
		s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(otp, 1)}).Want(t, 422, "otp_incorrect")
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp}).Want(t, 200)
	})
}

// TestOTPLifetime: a resend repeats the code, verify-otp does not use it up, a
// login does, and it expires.
func TestOTPLifetime(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		ask := map[string]any{"mobile_number": coachNumber}
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": "123456"}).Want(t, 410, "otp_expired")
		s.Call(t, "POST", "/auth/request-otp", "", ask).Want(t, 202)
		otp := s.OTP(coachNumber, 0)
		s.Call(t, "POST", "/auth/request-otp", "", ask).Want(t, 429, "otp_resend_too_soon")
		s.Clock.Advance(61 * time.Second)
		s.Call(t, "POST", "/auth/request-otp", "", ask).Want(t, 202)
		if again := s.OTP(coachNumber, 1); again != otp {
			t.Fatalf("the resend has another code")
		}
		login := map[string]any{"mobile_number": "098123 00001", "otp": otp}
		for range 7 {
			if a := s.Call(t, "POST", "/auth/verify-otp", "", login).Want(t, 200); a.JSON["registered"] != false {
				t.Fatalf("account exists before the first login: %s", a.Body)
			}
		}
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp, "role": "guardian"}).Want(t, 410, "otp_expired")
		s.Call(t, "POST", "/auth/login", "", login).Want(t, 200)
		s.Call(t, "POST", "/auth/login", "", login).Want(t, 410, "otp_expired")

		s.Clock.Advance(2 * time.Minute)
		s.Call(t, "POST", "/auth/request-otp", "", ask).Want(t, 202)
		late := s.OTP(coachNumber, 2)
		s.Clock.Advance(5*time.Minute + time.Second)
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": late}).Want(t, 410, "otp_expired")
	})
}

// TestOTPSendLimit: five sends an hour per number. A role that the number does
// not hold gets the same response, but no SMS.
func TestOTPSendLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		for i := range 5 {
			if i > 0 {
				s.Clock.Advance(61 * time.Second)
			}
			s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
		}
		s.Clock.Advance(61 * time.Second)
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 429, "otp_send_limit")

		held := s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": otherNumber, "role": "coach"}).Want(t, 202)
		not := s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": otherNumber, "role": "guardian"}).Want(t, 202)
		if string(held.Body) != string(not.Body) {
			t.Fatalf("responses differ: %s and %s", held.Body, not.Body)
		}
		s.OTP(otherNumber, 0)
		for i := range 5 {
			a := s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": otherNumber, "role": "guardian", "otp": fmt.Sprintf("%06d", i)}).Want(t, 422, "otp_incorrect")
			if a.String("attempts_left") != fmt.Sprint(4-i) {
				t.Fatalf("response to a wrong code differs: %s", a.Body)
			}
		}
		if n := s.Sent(otherNumber, "otp"); n != 1 {
			t.Fatalf("got %d codes, want only the coach's", n)
		}
	})
}

// TestAddressLimit: 20 sends an hour per client address, for any numbers.
func TestAddressLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		for i := range 20 {
			s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": fmt.Sprintf("+9198124%05d", i)}).Want(t, 202)
		}
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": "+919812599999"}).Want(t, 429, "otp_send_limit")
	}, func(c *config.Config) { c.OTPSendsPerAddressHour = 20 })
}

// TestLoginRetryWithKey: a login repeated with its idempotency key uses no OTP.
func TestLoginRetryWithKey(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
		otp := s.OTP(coachNumber, 0)
		login := map[string]any{"mobile_number": coachNumber, "otp": otp}
		first := s.Call(t, "POST", "/auth/login", "", login, `Idempotency-Key: "k-1"`).Want(t, 200)
		again := s.Call(t, "POST", "/auth/login", "", login, `Idempotency-Key: "k-1"`).Want(t, 200)
		if first.String("refresh_token") != again.String("refresh_token") || first.String("session_id") != again.String("session_id") {
			t.Fatal("the repeated response differs")
		}
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": "000000"}, `Idempotency-Key: "k-1"`).Want(t, 422, "idempotency_key_reused")
		s.Call(t, "POST", "/auth/logout", again.String("access_token"), nil).Want(t, 204)
		s.Call(t, "POST", "/auth/login", "", login, `Idempotency-Key: "k-1"`).Want(t, 410, "otp_expired")
	})
}
