package e2e_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestPendingReasonOnTheWire: approval-status and pending-approvals say why a consent
// is pending, and a party reads its own reason alone.
func TestPendingReasonOnTheWire(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		status := func(p *touchlinetest.User) *touchlinetest.Response {
			return p.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200)
		}
		wantReasons := func(guardian, student string) {
			t.Helper()
			wantValues(t, "status", status(coach), map[string]string{"guardian_pending_reason": guardian, "student_pending_reason": student})
			for _, item := range coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items() {
				want := map[any]string{"guardian": guardian, "student": student}[item["approver_type"]]
				if item["pending_reason"] != want {
					t.Errorf("pending approvals: the reason of the %s is %v, want %s", item["approver_type"], item["pending_reason"], want)
				}
			}
		}
		wantReasons("added", "added")
		wantValues(t, "the guardian's status", status(guardian), map[string]string{"guardian_pending_reason": "added", "student_pending_reason": ""})
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "rejected"}).Want(t, 200)
		wantReasons("", "added")
		coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": id}).Want(t, 201)
		wantReasons("resent_after_answer", "added")
		coach.Call(t, "PATCH", "/api/players/"+id, object{"guardian": object{"mobile_number": "+919812300081"}}).Want(t, 200)
		wantReasons("contact_changed", "added")
		coach.Call(t, "PATCH", "/api/players/"+id, object{"student": object{"date_of_birth": "2013-01-02"}}).Want(t, 200)
		wantReasons("student_changed", "student_changed")
	})
}

// TestLiftReopensRequest: the family can answer after it lifts its dispute within 30 days;
// after that, the coach is notified.
func TestLiftReopensRequest(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		added := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		id, request := added.String("player_id"), added.String("guardian_request_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		dispute := "/api/approval/requests/" + request + "/dispute"
		for _, wait := range []time.Duration{29 * day, 31 * day} {
			guardian.Call(t, "POST", dispute, nil).Want(t, 200)
			s.Clock.Advance(wait)
			guardian, coach = s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "coach", coachNumber)
			guardian.Call(t, "DELETE", dispute, nil).Want(t, 204)
			want, notifications := "pending", 0
			if wait > 30*day {
				want, notifications = "cancelled", 1
			}
			if got := getRequest(t, guardian, request).String("state"); got != want {
				t.Errorf("lifted after %s: the request is %s, want %s", wait, got, want)
			}
			if got := countNotifications(t, coach, "dispute_lifted"); got != notifications {
				t.Errorf("lifted after %s: the coach has %d notifications, want %d", wait, got, notifications)
			}
		}
		coach.Call(t, "POST", "/api/approval/send-guardian-request", object{"player_id": id}).Want(t, 201)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "approved"}).Want(t, 200)
	})
}
