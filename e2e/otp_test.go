package e2e_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/touchlinetest"
)

// wrongOTP returns the nth code that is not otp.
func wrongOTP(otp string, n int) string {
	for i := 0; ; i++ {
		if code := fmt.Sprintf("%06d", i); code != otp {
			if n--; n < 0 {
				return code
			}
		}
	}
}

// TestConcurrentWrongOTPs: of a thousand wrong guesses at once, on two replicas, exactly
// five are judged; then even the right code is refused.
func TestConcurrentWrongOTPs(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		replicas := []*touchlinetest.Service{s, s.Replica()}
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
		otp := s.OTP(coachNumber, 0)

		const guesses, atOnce = 1000, 50
		codes := make(chan string, guesses)
		var wait sync.WaitGroup
		for w := range atOnce {
			wait.Go(func() {
				for i := range guesses / atOnce {
					a, err := replicas[i%2].Do(context.Background(), "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(otp, w*guesses/atOnce+i)})
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
		if count["otp_incorrect"] != 5 || count["otp_attempts_exceeded"] != guesses-5 {
			t.Fatalf("%v, want 5 judged of %d", count, guesses)
		}
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp}).Want(t, 429, "otp_attempts_exceeded")
	})
}

// TestDailyAttemptLimit: ten wrong tries over all codes shut a number out for a
// day, but not a device that has proved itself.
func TestDailyAttemptLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		known := s.SignIn(t, "coach", coachNumber)
		for round := range 2 {
			s.Clock.Advance(2 * time.Minute)
			before := s.Sent(coachNumber, "otp")
			s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
			otp := s.OTP(coachNumber, before)
			for i := range 5 {
				a := s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(otp, i)}).Want(t, 422, "otp_incorrect")
				if got, want := a.String("attempts_left"), fmt.Sprint(4-i); got != want {
					t.Fatalf("round %d: attempts_left = %s, want %s", round, got, want)
				}
			}
		}
		s.Clock.Advance(2 * time.Minute)
		before := s.Sent(coachNumber, "otp")
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
		otp := s.OTP(coachNumber, before)
		shut := s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp}).Want(t, 429, "otp_attempts_exceeded")
		if shut.Header.Get("Retry-After") == "" {
			t.Fatal("no Retry-After")
		}
		// The device has a challenge and tries of its own.
		before = s.Sent(coachNumber, "otp")
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber, "device_token": known.Device}).Want(t, 202)
		otp = s.OTP(coachNumber, before)
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp, "device_token": known.Device}).Want(t, 200)

		s.Clock.Advance(25 * time.Hour)
		s.SignIn(t, "coach", coachNumber)
	})
}

// TestCorrectOTPKeepsAttemptLimit: wrong tries end a day after the first of them,
// however many right codes come in between.
func TestCorrectOTPKeepsAttemptLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
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

// TestOTPLifetime: a resend repeats the code, verify-otp does not use it up, a login
// does, and time ends it.
func TestOTPLifetime(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		ask := map[string]any{"mobile_number": coachNumber}
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": "123456"}).Want(t, 410, "otp_expired")
		s.Call(t, "POST", "/auth/request-otp", "", ask).Want(t, 202)
		otp := s.OTP(coachNumber, 0)
		s.Call(t, "POST", "/auth/request-otp", "", ask).Want(t, 429, "otp_resend_too_soon")
		s.Clock.Advance(61 * time.Second)
		s.Call(t, "POST", "/auth/request-otp", "", ask).Want(t, 202)
		if again := s.OTP(coachNumber, 1); again != otp {
			t.Fatalf("a resend within its life sent another code")
		}
		login := map[string]any{"mobile_number": "098123 00001", "otp": otp}
		for range 7 {
			if a := s.Call(t, "POST", "/auth/verify-otp", "", login).Want(t, 200); a.JSON["registered"] != false {
				t.Fatalf("registered before the first login: %s", a.Body)
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

// TestOTPSendLimit: five an hour to a number; the answer is the same for a role that
// the number does not hold, but nothing is sent.
func TestOTPSendLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
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
			t.Fatalf("the answers differ: %s, %s", held.Body, not.Body)
		}
		s.OTP(otherNumber, 0)
		for i := range 5 {
			a := s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": otherNumber, "role": "guardian", "otp": fmt.Sprintf("%06d", i)}).Want(t, 422, "otp_incorrect")
			if a.String("attempts_left") != fmt.Sprint(4-i) {
				t.Fatalf("guesses are answered otherwise: %s", a.Body)
			}
		}
		if n := s.Sent(otherNumber, "otp"); n != 1 {
			t.Fatalf("%d codes were sent, want the coach's alone", n)
		}
	})
}

// TestAddressLimit: 20 sends an hour from one address, whatever the number.
func TestAddressLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		for i := range 20 {
			s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": fmt.Sprintf("+9198124%05d", i)}).Want(t, 202)
		}
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": "+919812599999"}).Want(t, 429, "otp_send_limit")
	}, func(c *config.Config) { c.OTPSendsPerAddressHour = 20 })
}

// TestLoginRetryWithKey: a login that is repeated with its key costs no OTP.
func TestLoginRetryWithKey(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 202)
		otp := s.OTP(coachNumber, 0)
		login := map[string]any{"mobile_number": coachNumber, "otp": otp}
		first := s.Call(t, "POST", "/auth/login", "", login, `Idempotency-Key: "k-1"`).Want(t, 200)
		again := s.Call(t, "POST", "/auth/login", "", login, `Idempotency-Key: "k-1"`).Want(t, 200)
		if first.String("refresh_token") != again.String("refresh_token") || first.String("session_id") != again.String("session_id") {
			t.Fatal("the repeated answer is another one")
		}
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": "000000"}, `Idempotency-Key: "k-1"`).Want(t, 422, "idempotency_key_reused")
		s.Call(t, "POST", "/auth/logout", again.String("access_token"), nil).Want(t, 204)
		s.Call(t, "POST", "/auth/login", "", login, `Idempotency-Key: "k-1"`).Want(t, 410, "otp_expired")
	})
}
