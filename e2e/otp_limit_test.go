package e2e_test

import (
	"fmt"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestSendLimitsPerNumberAndTotal: limits on sends per number and day over all
// roles that it holds, and on all sends per hour, of which half is kept for numbers that
// hold their role. A refused send does not count; Retry-After is exact.
func TestSendLimitsPerNumberAndTotal(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		ask := func(number, role string) *touchlinetest.Response {
			return s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": number, "role": role})
		}
		s.Coach(t, coachNumber).AddPlayer(t, map[string]any{
			"student":  map[string]any{"full_name": "Asha Rao", "date_of_birth": "2000-04-30", "contact_number": otherNumber},
			"guardian": map[string]any{"name": "Ravi Rao", "relationship": "father", "mobile_number": otherNumber},
		})
		s.Clock.Advance(2 * time.Hour)
		for i := range 10 {
			ask(otherNumber, []string{"coach", "guardian", "student"}[i%3]).Want(t, 202)
			s.Clock.Advance(30 * time.Minute)
		}
		for range 3 {
			refused := ask(otherNumber, "coach").Want(t, 429, "otp_send_limit")
			if refused.String("limit") != "otp_sends_per_day" {
				t.Fatalf("per number: got %s", refused.Body)
			}
		}
		// Five hours have passed since the first send.
		refused := ask(otherNumber, "guardian").Want(t, 429, "otp_send_limit")
		wait, _ := strconv.Atoi(refused.Header.Get("Retry-After"))
		if left := 19 * time.Hour; time.Duration(wait)*time.Second > left || time.Duration(wait)*time.Second < left-time.Minute {
			t.Fatalf("got Retry-After %d s, want a little less than %s", wait, left)
		}
		s.Clock.Advance(time.Duration(wait) * time.Second)
		ask(otherNumber, "coach").Want(t, 202)
		ask(otherNumber, "student").Want(t, 429, "otp_send_limit") // the second send is still in the window

		s.Clock.Advance(2 * time.Hour)
		full := func(number, role string) {
			t.Helper()
			if a := ask(number, role).Want(t, 429, "otp_send_limit"); a.String("limit") != "otp_sends_total_hour" {
				t.Fatalf("in total: got %s", a.Body)
			}
		}
		for i := range 6 {
			ask(fmt.Sprintf("+9198125%05d", i), "coach").Want(t, 202)
		}
		full("+919812599999", "coach")
		for _, role := range []string{"guardian", "student"} {
			ask(otherNumber, role).Want(t, 202)
		}
		for range 4 {
			ask(coachNumber, "coach").Want(t, 202)
			s.Clock.Advance(61 * time.Second)
		}
		for _, number := range []string{coachNumber, otherNumber, "+919812599999"} {
			full(number, "coach")
			full(number, "guardian")
		}
	}, func(c *config.Config) {
		c.OTPSendsPerHour, c.OTPSendsPerDay, c.OTPSendsTotalHour = 5, 10, 12
	})
}

// TestResendsWithoutWait: with the resend wait off, no request waits, not even if
// another replica's clock is ahead.
func TestResendsWithoutWait(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		for range 3 {
			requestOTP(t, s, coachNumber, "")
			s.Clock.Advance(-time.Second)
		}
	}, func(c *config.Config) { c.OTPResendAfter = 0 })
}

// TestUsedOTPEndsWait: after a login the next code can be requested at once, but a
// code that was only verified does not end the wait.
func TestUsedOTPEndsWait(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		body := map[string]any{"mobile_number": coachNumber}
		for i := range 5 {
			s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, 202)
			code := map[string]any{"mobile_number": coachNumber, "otp": s.OTP(coachNumber, i)}
			s.Call(t, "POST", "/auth/verify-otp", "", code).Want(t, 200)
			s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, 429, "otp_resend_too_soon")
			s.Call(t, "POST", "/auth/login", "", code).Want(t, 200)
		}
		s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, 429, "otp_send_limit")
	})
}

// TestAddressBehindProxy: behind a trusted proxy each client address (IPv6: each
// /64) has its own limit. A client cannot change its address with a header.
func TestAddressBehindProxy(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		n := 0
		ask := func(forwarded string) *touchlinetest.Response {
			n++
			return s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": fmt.Sprintf("+9198126%05d", n)}, "X-Forwarded-For: "+forwarded)
		}
		for i := range 3 {
			ask(fmt.Sprintf("203.0.113.%d, 198.51.100.7", i)).Want(t, 202)
			ask(fmt.Sprintf("2001:db8:1:2::%d", i)).Want(t, 202)
		}
		if a := ask("203.0.113.9, 198.51.100.7").Want(t, 429, "otp_send_limit"); a.String("limit") != "otp_sends_per_address_hour" {
			t.Fatalf("got %s", a.Body)
		}
		ask("2001:db8:1:2:ffff::1").Want(t, 429, "otp_send_limit")
		ask("2001:db8:1:3::1").Want(t, 202)
		ask("198.51.100.8").Want(t, 202)
	}, func(c *config.Config) {
		c.OTPSendsPerAddressHour = 3
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
}

// TestTestNumberSignsIn: an app-store review number signs in with its fixed code
// and gets no SMS. After its last day it is a normal number.
func TestTestNumberSignsIn(t *testing.T) {
	t.Parallel()
	const number = "+919900000001"
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		login := func(otp string) *touchlinetest.Response {
			return s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": number, "otp": otp})
		}
		login("123456").Want(t, 410, "otp_expired")
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": number}).Want(t, 202)
		login("123457").Want(t, 422, "otp_incorrect")
		login("123456").Want(t, 200)
		login("123456").Want(t, 410, "otp_expired")
		s.Clock.Advance(61 * time.Second)
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": number}).Want(t, 202)
		for range 5 {
			login("000000").Want(t, 422, "otp_incorrect")
		}
		login("123456").Want(t, 429, "otp_attempts_exceeded")
		if n := s.Sent(number, "otp"); n != 0 {
			t.Fatalf("got %d SMS to a test number, want 0", n)
		}
		s.Clock.Advance(48 * time.Hour)
		otp := requestOTP(t, s, number, "")
		if otp == "123456" {
			t.Fatal("the fixed code still works")
		}
		login("123456").Want(t, 422, "otp_incorrect")
		login(otp).Want(t, 200)
	}, func(c *config.Config) {
		c.TestNumbers = []config.TestNumber{{Number: number, Code: "123456", Until: time.Now().Add(24 * time.Hour)}}
	})
}

// TestRefreshGrace: the grace period of 30 s starts at the first use of the
// successor, for each of two older tokens.
func TestRefreshGrace(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		p := s.SignIn(t, "coach", coachNumber)
		second := refresh(t, s, p.Refresh).Want(t, 200).String("refresh_token")
		s.Clock.Advance(time.Hour)
		refresh(t, s, p.Refresh).Want(t, 200) // the successor is unused
		third := refresh(t, s, second).Want(t, 200)
		s.Clock.Advance(29 * time.Second)
		refresh(t, s, p.Refresh).Want(t, 401, "refresh_token_raced")
		if again := refresh(t, s, second).Want(t, 200); again.String("refresh_token") != third.String("refresh_token") {
			t.Fatal("got another successor")
		}
		s.Call(t, "GET", "/api/me", third.String("access_token"), nil).Want(t, 200) // first use of the third token
		refresh(t, s, second).Want(t, 401, "refresh_token_raced")
		s.Clock.Advance(2 * time.Second)
		refresh(t, s, second).Want(t, 401, "refresh_token_raced")
		refresh(t, s, p.Refresh).Want(t, 401, "refresh_token_reused")
		refresh(t, s, third.String("refresh_token")).Want(t, 401, "session_revoked")
	})
}

// TestClockSetBack: a number can sign in although its last OTP was sent by a clock that was two
// days ahead.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		request := func() *touchlinetest.Response {
			t.Helper()
			return s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber})
		}
		s.Clock.Advance(48 * time.Hour)
		request().Want(t, 202)
		early := s.OTP(coachNumber, 0)

		s.Clock.Advance(-48 * time.Hour)
		request().Want(t, 202)
		otp := s.OTP(coachNumber, 1)
		if otp == early {
			t.Error("the OTP of two days ahead is still valid")
		}
		s.Clock.Advance(61 * time.Second)
		refused := request().Want(t, 429, "otp_send_limit")
		if wait, err := strconv.Atoi(refused.Header.Get("Retry-After")); err != nil || wait > 3539 {
			t.Errorf("Retry-After is %s, want at most 3539", refused.Header.Get("Retry-After"))
		}
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp}).Want(t, 200)
	}, func(c *config.Config) { c.OTPSendsPerHour = 1 })
}
