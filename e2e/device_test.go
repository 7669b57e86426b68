package e2e_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// requestOTP requests an OTP for a coach's number, optionally with a device
// token, and returns it.
func requestOTP(t *testing.T, s *touchlinetest.Service, number, device string) string {
	t.Helper()
	before := s.Sent(number, "otp")
	s.Call(t, "POST", "/auth/request-otp", "", withDevice(map[string]any{"mobile_number": number}, device)).Want(t, 202)
	return s.OTP(number, before)
}

func withDevice(body map[string]any, token string) map[string]any {
	if token != "" {
		body["device_token"] = token
	}
	return body
}

// TestDeviceHasOwnLimits: sends and attempts by others do not count for a known
// device, which has its own limits.
func TestDeviceHasOwnLimits(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		p := s.SignIn(t, "coach", coachNumber)
		ask := withDevice(map[string]any{"mobile_number": coachNumber}, p.Device)
		for range 4 {
			s.Clock.Advance(61 * time.Second)
			requestOTP(t, s, coachNumber, "")
		}
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 429, "otp_resend_too_soon")
		s.Clock.Advance(61 * time.Second)
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber}).Want(t, 429, "otp_send_limit")

		otp := requestOTP(t, s, coachNumber, p.Device)
		s.Call(t, "POST", "/auth/request-otp", "", ask).Want(t, 429, "otp_resend_too_soon")
		s.Call(t, "POST", "/auth/verify-otp", "", withDevice(map[string]any{"mobile_number": coachNumber, "otp": otp}, p.Device)).Want(t, 200)
		for range 4 {
			s.Clock.Advance(61 * time.Second)
			requestOTP(t, s, coachNumber, p.Device)
		}
		s.Clock.Advance(61 * time.Second)
		full := s.Call(t, "POST", "/auth/request-otp", "", ask).Want(t, 429, "otp_send_limit")
		if full.String("limit") != "otp_sends_per_device_day" || full.Header.Get("Retry-After") == "" {
			t.Fatalf("send limit of the device: got %s", full.Body)
		}
		s.Clock.Advance(24 * time.Hour)
		otp = requestOTP(t, s, coachNumber, p.Device)
		for round := range 2 {
			if round == 1 {
				s.Clock.Advance(6 * time.Minute)
				otp = requestOTP(t, s, coachNumber, p.Device)
			}
			for i := range 5 {
				s.Call(t, "POST", "/auth/login", "", withDevice(map[string]any{"mobile_number": coachNumber, "otp": wrongOTP(otp, i)}, p.Device)).Want(t, 422, "otp_incorrect")
			}
		}
		s.Clock.Advance(6 * time.Minute)
		wantBlocked(t, s.Call(t, "POST", "/auth/request-otp", "", ask), s.Clock.Now())
		s.Call(t, "POST", "/auth/login", "", withDevice(map[string]any{"mobile_number": coachNumber, "otp": otp}, p.Device)).Want(t, 429, "otp_attempts_exceeded")
		// The device's attempts do not count for the number.
		s.Clock.Advance(61 * time.Second)
		otp = requestOTP(t, s, coachNumber, "")
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp}).Want(t, 200)
	}, func(c *config.Config) { c.OTPSendsPerHour, c.OTPSendsPerDay = 5, 100 })
}

// TestDeviceLifetime: a device belongs to one number and lasts 180 days after its
// last login. A logout keeps it; a logout of all sessions ends it.
func TestDeviceLifetime(t *testing.T) {
	t.Parallel()
	const other = "+919812300077"
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		p := s.SignIn(t, "coach", coachNumber)
		// proves reports whether a code requested with the token is separate from
		// the number's shared code.
		proves := func(number string) bool {
			t.Helper()
			s.Clock.Advance(10 * time.Minute)
			otp := requestOTP(t, s, number, p.Device)
			a := s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": number, "otp": otp})
			if a.Status == 200 {
				return false
			}
			a.Want(t, 410, "otp_expired") // there is no shared code
			return true
		}
		if !proves(coachNumber) {
			t.Fatal("the token is not valid after a login")
		}
		if proves(other) {
			t.Fatal("the token is valid for another number")
		}
		s.Call(t, "POST", "/auth/logout", "", map[string]any{"refresh_token": p.Refresh}).Want(t, 204)
		if !proves(coachNumber) {
			t.Fatal("a logout ended the device")
		}
		s.Clock.Advance(179 * 24 * time.Hour)
		otp := requestOTP(t, s, coachNumber, p.Device)
		again := s.Call(t, "POST", "/auth/login", "", withDevice(map[string]any{"mobile_number": coachNumber, "otp": otp}, p.Device)).Want(t, 200)
		if again.String("device_token") != p.Device {
			t.Fatal("a known device got another token")
		}
		s.Clock.Advance(179 * 24 * time.Hour)
		if !proves(coachNumber) {
			t.Fatal("a login did not extend the device's lifetime")
		}
		s.Clock.Advance(24 * time.Hour)
		if proves(coachNumber) {
			t.Fatal("the device is valid after 180 days")
		}
		s.Clock.Advance(10 * time.Minute)
		p = s.SignIn(t, "coach", coachNumber)
		p.Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
		if proves(coachNumber) {
			t.Fatal("the device is valid after a logout of all sessions")
		}
	})
}
