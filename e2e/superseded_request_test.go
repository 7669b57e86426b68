package e2e_test

import (
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestSupersededRequestID: a decision about a superseded request is refused, for
// any form of request id.
func TestSupersededRequestID(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
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
