package e2e_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/touchlinetest"
)

// requestOTP asks for a code of a coach's number and returns what came by SMS.
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

// TestDeviceHasOwnLimits: what strangers do to a number, in sends and in guesses, is
// nothing to a device that has proved itself, and its own allowance ends, too.
func TestDeviceHasOwnLimits(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
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
			t.Fatalf("the refusal: %s", full.Body)
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
		otp = requestOTP(t, s, coachNumber, p.Device)
		s.Call(t, "POST", "/auth/login", "", withDevice(map[string]any{"mobile_number": coachNumber, "otp": otp}, p.Device)).Want(t, 429, "otp_attempts_exceeded")
		// Its guesses were not the number's.
		s.Clock.Advance(61 * time.Second)
		otp = requestOTP(t, s, coachNumber, "")
		s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": coachNumber, "otp": otp}).Want(t, 200)
	}, func(c *config.Config) { c.OTPSendsPerHour, c.OTPSendsPerDay = 5, 100 })
}

// TestDeviceLifetime: a device is bound to one number, lives for 180 days from its last
// login, outlives a logout, and ends with a logout of all.
func TestDeviceLifetime(t *testing.T) {
	t.Parallel()
	const other = "+919812300077"
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		p := s.SignIn(t, "coach", coachNumber)
		// proves says whether a code asked for with the token is the device's own.
		proves := func(number string) bool {
			t.Helper()
			s.Clock.Advance(10 * time.Minute)
			otp := requestOTP(t, s, number, p.Device)
			a := s.Call(t, "POST", "/auth/verify-otp", "", map[string]any{"mobile_number": number, "otp": otp})
			if a.Status == 200 {
				return false
			}
			a.Want(t, 410, "otp_expired") // the shared slot holds none
			return true
		}
		if !proves(coachNumber) {
			t.Fatal("the token proves nothing after a login")
		}
		if proves(other) {
			t.Fatal("the token proves another number's device")
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
			t.Fatal("a login does not prolong the device")
		}
		s.Clock.Advance(24 * time.Hour)
		if proves(coachNumber) {
			t.Fatal("the device outlived 180 days")
		}
		s.Clock.Advance(10 * time.Minute)
		p = s.SignIn(t, "coach", coachNumber)
		p.Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
		if proves(coachNumber) {
			t.Fatal("the device outlived a logout of all")
		}
	})
}
