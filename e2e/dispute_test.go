package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestDisputeLifecycle: a dispute can be repeated and withdrawn, even after the
// coach removed the player. While it lasts, no request is sent.
func TestDisputeLifecycle(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
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
