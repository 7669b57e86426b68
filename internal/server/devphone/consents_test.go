package devphone_test

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestForcedConsents: each state leads to each other one through real decisions, which history, notifications and the feed
// show.
func TestForcedConsents(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		token := signIn(t, s, "coach", coachNumber, 1)
		s.Call(t, "POST", "/auth/complete-profile", token, map[string]any{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}}).Want(t, 200)
		player := s.Call(t, "POST", "/api/players/add", token, touchlinetest.Minor(guardianNumber, "")).Want(t, 201).String("player_id")
		force := func(party, state string) *touchlinetest.Response {
			return s.Call(t, "POST", "/dev/consents", "", map[string]any{"player_id": player, "party": party, "state": state})
		}
		states := []string{"pending", "approved", "rejected", "revoked"}
		steps := 0
		for _, from := range states {
			for _, to := range states {
				force("guardian", from).Want(t, 200)
				got := force("guardian", to).Want(t, 200)
				steps++
				if got.String("guardian_state") != to || got.String("student_state") != "pending" || got.String("player_id") != player {
					t.Errorf("%s to %s: got %s", from, to, got.Body)
				}
			}
		}
		force("guardian", "approved").Want(t, 200)
		status := s.Call(t, "GET", "/api/players/approval-status/"+player, token, nil).Want(t, 200)
		var actions []string
		for _, item := range status.JSON["history"].([]any) {
			record, _ := item.(map[string]any)
			actions = append(actions, record["action"].(string))
		}
		for _, want := range []string{"approved", "rejected", "revoked"} {
			if !slices.Contains(actions, want) {
				t.Errorf("the history lacks %q: %v", want, actions)
			}
		}
		if status.String("guardian_status") != "approved" || len(actions) < steps/2 {
			t.Errorf("got %s", status.Body)
		}
		notifications := s.Call(t, "GET", "/api/notifications?limit=1", token, nil).Want(t, 200).Items()
		if len(notifications) != 1 || notifications[0]["type"] != "guardian_approved" {
			t.Errorf("the coach's newest notification is %v", notifications)
		}
		force("student", "approved").Want(t, 409, "no_contact_number")
		force("coach", "approved").Want(t, 422, "validation_failed")
		force("guardian", "disputed").Want(t, 422, "validation_failed")
		s.Call(t, "POST", "/dev/consents", "", map[string]any{"player_id": "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", "party": "guardian", "state": "approved"}).Want(t, 404, "not_found")
	}, development)
}
