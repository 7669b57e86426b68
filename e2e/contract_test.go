package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/touchlinetest"
)

// TestSupersededRequestID: a decision about a superseded request is refused, for
// any form of request id.
func TestSupersededRequestID(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		added := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		id, old := added.String("player_id"), added.String("guardian_request_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		coach.Call(t, "PATCH", "/api/players/"+id, map[string]any{"student": map[string]any{"full_name": "Anya Rao"}}).Want(t, 200)
		for _, request := range []string{old, "3f2b8c1e-5d4a-4b7c-9e8f-1a2b3c4d5e6f", "3F2B8C1E-5D4A-4B7C-9E8F-1A2B3C4D5E6F"} {
			guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "approved", "request_id": request}).
				Want(t, 409, "request_superseded")
		}
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "approved", "request_id": "seven"}).
			Want(t, 422, "validation_failed")
		wantAvailability(t, coach, id, false, false)
	})
}

// TestIncompleteProfileSendsNothing: calls that send a request need a complete
// profile; other calls do not.
func TestIncompleteProfileSendsNothing(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		coach.Call(t, "PATCH", "/api/coach/profile", map[string]any{"bio": nil}).Want(t, 200)
		for _, patch := range []map[string]any{
			{"student": map[string]any{"full_name": "Anya Rao"}},
			{"student": map[string]any{"date_of_birth": "2013-04-30"}},
			{"student": map[string]any{"contact_number": otherNumber}},
			{"guardian": map[string]any{"mobile_number": otherNumber}},
		} {
			refused := coach.Call(t, "PATCH", "/api/players/"+id, patch).Want(t, 403, "profile_incomplete")
			if refused.String("missing") != "[bio]" {
				t.Errorf("missing fields: got %s", refused.Body)
			}
		}
		coach.Call(t, "PATCH", "/api/players/"+id, map[string]any{"student": map[string]any{"medical_information": nil}}).Want(t, 200)
		for _, path := range []string{"send-guardian-request", "send-student-request", "send-reminder"} {
			coach.Call(t, "POST", "/api/approval/"+path, map[string]any{"player_id": id, "approver_type": "guardian"}).Want(t, 403, "profile_incomplete")
		}
	})
}

// TestNulls: null means the same as an absent field, except in a merge patch,
// where it clears the field.
func TestNulls(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber, "role": nil, "channel": nil, "device_token": nil}).Want(t, 202)
		coach := s.Coach(t, coach2Number)
		adult := coach.AddPlayer(t, map[string]any{
			"student": map[string]any{"full_name": "Old Hand", "date_of_birth": "1990-01-02", "contact_number": nil, "medical_information": nil}, "guardian": nil,
		})
		id := adult.String("player_id")
		if adult.JSON["guardian"] != nil || adult.JSON["adult"] != true {
			t.Fatalf("adult without guardian: got %s", adult.Body)
		}
		coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": id, "guardian": nil, "channels": nil}).Want(t, 409, "no_contact_number")
		for _, patch := range []map[string]any{
			{"student": nil},
			{"student": map[string]any{"full_name": nil}},
			{"student": map[string]any{"date_of_birth": nil}},
			{"guardian": map[string]any{"name": nil}},
		} {
			coach.Call(t, "PATCH", "/api/players/"+id, patch).Want(t, 422, "validation_failed")
		}
	})
}

// TestDisputeLifecycle: a dispute can be repeated and withdrawn, even after the
// coach removed the player. While it lasts, no request is sent.
func TestDisputeLifecycle(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		added := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		id, request := added.String("player_id"), "/api/approval/requests/"+added.String("guardian_request_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "POST", request+"/dispute", `{"a": 1}`).Want(t, 422, "validation_failed")
		guardian.Call(t, "POST", request+"/dispute", `{`).Want(t, 400, "malformed_request")
		for range 2 {
			guardian.Call(t, "POST", request+"/dispute", nil, "Idempotency-Key: d-1").Want(t, 200)
		}
		guardian.Call(t, "POST", request+"/dispute", nil).Want(t, 409, "no_open_request")
		coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": id}).Want(t, 409, "contact_disputed")
		coach.Call(t, "DELETE", "/api/players/"+id, nil).Want(t, 204)
		coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(guardianNumber, "")).Want(t, 409, "contact_disputed")

		s.Clock.Advance(2 * time.Minute)
		guardian = s.SignIn(t, "guardian", guardianNumber) // withdrawing a dispute needs a sign-in
		if me := guardian.Call(t, "GET", "/api/me", nil).Want(t, 200); !strings.Contains(string(me.Body), `"roles":["guardian"]`) {
			t.Errorf("roles: got %s", me.Body)
		}
		for range 2 {
			guardian.Call(t, "DELETE", request+"/dispute", nil).Want(t, 204)
		}
		coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
	})
}

// TestRetryAfterExhaustedOTP: after too many attempts, a new code can be
// requested after the usual wait.
func TestRetryAfterExhaustedOTP(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
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
