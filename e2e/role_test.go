package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestSessionEndsWithItsRole: an account that no player names any longer gets
// 404 for the player at once and cannot refresh, on any replica. An account that another
// player names, or with a dispute to withdraw, can refresh.
func TestSessionEndsWithItsRole(t *testing.T) {
	t.Parallel()
	const otherNumber = "+919812300019"
	grown := func(number string) map[string]any {
		return map[string]any{
			"student":  map[string]any{"full_name": "Asha Rao", "date_of_birth": "2000-04-30", "contact_number": number},
			"guardian": map[string]any{"name": "Ravi Rao", "relationship": "father", "mobile_number": number},
		}
	}
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, replica := s.Coach(t, "+919812300001"), s.Replica()
		refresh := func(t *testing.T, p *touchlinetest.User, status int, codes ...string) {
			t.Helper()
			a := replica.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": p.Refresh}).Want(t, status, codes...)
			if status == 200 {
				p.Access, p.Refresh = a.String("access_token"), a.String("refresh_token")
			}
		}
		ways := []struct {
			name string
			end  func(id string)
		}{
			{"deleted", func(id string) { coach.Call(t, "DELETE", "/api/players/"+id, nil).Want(t, 204) }},
			{"corrected when sent", func(id string) {
				coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{
					"player_id": id, "guardian": map[string]any{"mobile_number": otherNumber},
				}).Want(t, 201)
			}},
			{"corrected", func(id string) {
				coach.Call(t, "PATCH", "/api/players/"+id, map[string]any{"guardian": map[string]any{"mobile_number": otherNumber}}).Want(t, 200)
			}},
			{"taken from an adult", func(id string) {
				coach.Call(t, "PATCH", "/api/players/"+id, map[string]any{"guardian": nil}).Want(t, 200)
			}},
		}
		for i, way := range ways {
			t.Run(way.name, func(t *testing.T) {
				number := fmt.Sprint("+91981230002", i)
				id := coach.AddPlayer(t, grown(number)).String("player_id")
				sibling := coach.AddPlayer(t, child(1, number)).String("player_id")
				guardian, student := s.SignIn(t, "guardian", number), s.SignIn(t, "student", number)
				way.end(id)
				refresh(t, guardian, 200) // the sibling names the guardian
				coach.Call(t, "DELETE", "/api/players/"+sibling, nil).Want(t, 204)
				for _, id := range []string{id, sibling} {
					guardian.On(replica).Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 404)
				}
				if me := guardian.Call(t, "GET", "/api/me", nil).Want(t, 200); way.name == "deleted" && !strings.Contains(string(me.Body), `"roles":[]`) {
					t.Errorf("no role: got %s, want an empty list of roles", me.Body)
				}
				refresh(t, guardian, 401, "refresh_token_expired")
				if way.name == "deleted" {
					refresh(t, student, 401, "refresh_token_expired")
					return
				}
				refresh(t, student, 200) // the number has another role
				// A number named again can sign in again; its old session stays
				// ended.
				again := coach.AddPlayer(t, child(2, number)).String("player_id")
				refresh(t, guardian, 401, "refresh_token_expired")
				s.Clock.Advance(time.Minute) // the minimum time between two codes
				refresh(t, s.SignIn(t, "guardian", number), 200)
				for _, id := range []string{id, again} {
					coach.Call(t, "DELETE", "/api/players/"+id, nil).Want(t, 204)
				}
			})
		}
		t.Run("disputed", func(t *testing.T) {
			added := coach.AddPlayer(t, child(3, otherNumber))
			request := "/api/approval/requests/" + added.String("guardian_request_id")
			other := s.SignIn(t, "guardian", otherNumber)
			other.Call(t, "POST", request+"/dispute", nil).Want(t, 200)
			coach.Call(t, "DELETE", "/api/players/"+added.String("player_id"), nil).Want(t, 204)
			refresh(t, other, 200)
			other.Call(t, "DELETE", request+"/dispute", nil).Want(t, 204)
			refresh(t, other, 401, "refresh_token_expired")
		})
	})
}
