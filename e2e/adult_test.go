package e2e_test

import (
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestAdultWithoutGuardian: an adult without a guardian is not counted or listed as
// guardian pending, and has no service for a guardian who does not exist.
func TestAdultWithoutGuardian(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		minor := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		adult := coach.AddPlayer(t, object{"student": object{"full_name": "Old Hand", "date_of_birth": "1990-01-02"}})
		id := adult.String("player_id")
		if got := adult.String("guardian_status"); got != "pending" {
			t.Errorf("guardian_status = %q, want the specification's default pending", got)
		}
		wantValues(t, "dashboard", getDashboard(t, coach), map[string]string{
			"players.total": "2", "players.guardian.pending": "1", "players.guardian.approved": "0", "players.student.pending": "2", "pending_approvals.total": "3",
		})
		for _, status := range []string{"pending", "approved", "rejected"} {
			for _, item := range coach.Call(t, "GET", "/api/players?guardian_status="+status, nil).Want(t, 200).Items() {
				if status != "pending" || item["player_id"] != minor {
					t.Errorf("guardian_status=%s lists %v", status, item["player_id"])
				}
			}
		}
		for _, item := range coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items() {
			if item["player_id"] == id && item["approver_type"] == "guardian" {
				t.Errorf("pending approvals list %v", item)
			}
		}
		wantServices := func(path, service string, guardian, student bool) {
			t.Helper()
			list, _ := coach.Call(t, "GET", path, nil).Want(t, 200).JSON["services"].([]any)
			for _, row := range list {
				if row := row.(map[string]any); row["service"] == service && (row["guardian"] != guardian || row["student"] != student) {
					t.Errorf("%s: got %v, want guardian %t, student %t", path, row, guardian, student)
				}
			}
			if len(list) == 0 {
				t.Errorf("%s: no services", path)
			}
		}
		for _, base := range []string{"/api/players/", "/api/services/availability/"} {
			wantServices(base+id, "chat", false, true)
			wantServices(base+id, "sms", false, false)
			wantServices(base+id, "roster", false, true)
			wantServices(base+minor, "sms", true, false)
			wantServices(base+minor, "chat", true, true)
		}
		coach.Call(t, "PATCH", "/api/players/"+id, object{"student": object{"contact_number": studentNumber}}).Want(t, 200)
		wantServices("/api/services/availability/"+id, "sms", false, true)
	})
}
