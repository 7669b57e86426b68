package e2e_test

import (
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// Numbers of the parties in the tests.
const (
	coachNumber    = "+919812300001"
	coach2Number   = "+919812300002"
	guardianNumber = "+919812300011"
	studentNumber  = "+919812300021"
	otherNumber    = "+919812300031"
)

// TestConsentEndToEnd: a coach adds a student, guardian and student each decide,
// and all parties see the result.
func TestConsentEndToEnd(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.SignIn(t, "coach", coachNumber)
		if got := coach.Login.String("next"); got != "complete_profile" {
			t.Fatalf("next after the first login: got %q", got)
		}
		coach.Call(t, "POST", "/api/players/add", touchlinetest.Minor(guardianNumber, studentNumber)).Want(t, 403, "profile_incomplete")
		coach = s.Coach(t, coach2Number)
		coach.Call(t, "GET", "/api/me", nil).Want(t, 200)

		added := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		id := added.String("player_id")
		if added.String("guardian_status") != "pending" || added.String("student_status") != "pending" {
			t.Fatalf("new player: got %s", added.Body)
		}
		wantAvailability(t, coach, id, false, false)
		pending := coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200)
		if n := len(pending.Items()); n != 2 {
			t.Fatalf("got %d pending requests, want 2: %s", n, pending.Body)
		}

		// Each party gets an SMS and sees the request after signing in.
		s.SMS(guardianNumber, "message", 0)
		s.SMS(studentNumber, "message", 0)
		guardian := s.SignIn(t, "guardian", guardianNumber)
		links := guardian.Call(t, "GET", "/api/me/players", nil).Want(t, 200).Items()
		if len(links) != 1 || links[0]["player_id"] != id || links[0]["status"] != "pending" {
			t.Fatalf("guardian's players: got %v", links)
		}
		limited := guardian.Call(t, "GET", "/api/players/"+id, nil).Want(t, 200)
		if limited.String("student.date_of_birth") != "" || limited.String("guardian") != "" {
			t.Fatalf("before the approval: got too many fields: %s", limited.Body)
		}
		decision := map[string]any{"player_id": id, "action": "approved", "request_id": links[0]["request_id"]}
		guardian.Call(t, "PUT", "/api/approval/guardian-response", decision).Want(t, 200)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", decision).Want(t, 200) // PUT is idempotent
		wantAvailability(t, coach, id, true, false)
		full := guardian.Call(t, "GET", "/api/players/"+id, nil).Want(t, 200)
		if full.String("student.has_medical_information") != "true" || full.String("student.medical_information") != "" {
			t.Fatalf("after the approval: want that there is a medical note, without the note, got %s", full.Body)
		}
		if note := guardian.Call(t, "GET", "/api/players/"+id+"/medical", nil).Want(t, 200); note.String("medical_information") == "" {
			t.Fatalf("after the approval: want the medical note, got %s", note.Body)
		}

		student := s.SignIn(t, "student", studentNumber)
		student.Call(t, "PUT", "/api/approval/guardian-response", decision).Want(t, 403, "role_not_allowed")
		student.Call(t, "PUT", "/api/approval/student-response", map[string]any{"player_id": id, "action": "rejected", "reason": "wrong team"}).Want(t, 200)
		wantAvailability(t, student, id, true, false)
		student.Call(t, "PUT", "/api/approval/student-response", map[string]any{"player_id": id, "action": "approved"}).Want(t, 409, "invalid_transition")

		sent := coach.Call(t, "POST", "/api/approval/send-student-request", map[string]any{"player_id": id}).Want(t, 201)
		coach.Call(t, "POST", "/api/approval/send-student-request", map[string]any{"player_id": id}).Want(t, 409, "request_pending")
		student.Call(t, "PUT", "/api/approval/student-response", map[string]any{"player_id": id, "action": "approved", "request_id": sent.String("request_id")}).Want(t, 200)
		wantAvailability(t, guardian, id, true, true)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "revoked"}).Want(t, 200)
		wantAvailability(t, guardian, id, false, true)

		status := coach.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200)
		if status.String("guardian_status") != "rejected" || status.String("guardian_state") != "revoked" || status.String("student_status") != "approved" {
			t.Fatalf("approval status: got %s", status.Body)
		}
		history, _ := status.JSON["history"].([]any)
		var got []string
		for _, h := range history {
			m := h.(map[string]any)
			got = append(got, m["approver_type"].(string)+" "+m["action"].(string))
		}
		want := []string{"guardian approved", "student rejected", "student approved", "guardian revoked"}
		if len(got) != len(want) {
			t.Fatalf("history: got %v, want %v", got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("history: got %v, want %v", got, want)
			}
		}
		counts := map[string]int{}
		for _, n := range coach.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items() {
			counts[n["type"].(string)]++
		}
		for _, kind := range []string{"guardian_approved", "student_rejected", "student_approved", "guardian_revoked"} {
			if counts[kind] != 1 {
				t.Errorf("notification %q: got %d, want 1", kind, counts[kind])
			}
		}
	})
}

// wantAvailability fails the test unless p sees this availability of the player.
func wantAvailability(t *testing.T, p *touchlinetest.User, id string, guardian, student bool) {
	t.Helper()
	a := p.Call(t, "GET", "/api/services/availability/"+id, nil).Want(t, 200)
	if a.JSON["guardian_app_enabled"] != guardian || a.JSON["student_app_enabled"] != student || a.JSON["chat_enabled"] != true || a.JSON["sms_enabled"] != true {
		t.Fatalf("availability: want guardian %v student %v, got %s", guardian, student, a.Body)
	}
}
