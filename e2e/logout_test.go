package e2e_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestLogoutOfAllByRefreshToken: only a current refresh token can end the
// number's other sessions, because an old one may be stolen, and the number may have a new
// owner since one expired.
func TestLogoutOfAllByRefreshToken(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		logout := func(token string) *touchlinetest.Response {
			return s.Call(t, "POST", "/auth/logout", "", map[string]any{"refresh_token": token, "all": true})
		}
		works := func(access string, want int) {
			t.Helper()
			s.Call(t, "GET", "/api/me", access, nil).Want(t, want)
		}
		other := s.SignIn(t, "coach", coachNumber)
		s.Clock.Advance(2 * time.Minute)
		p := s.SignIn(t, "coach", coachNumber)
		next := refresh(t, s, p.Refresh).Want(t, 200)
		works(next.String("access_token"), 200) // first use of the successor
		logout(p.Refresh).Want(t, 401, "refresh_token_reused")
		works(next.String("access_token"), 401)
		works(other.Access, 200)
		logout(p.Refresh).Want(t, 204)
		works(other.Access, 200)

		// This response is lost, so the previous token is still current.
		s.Clock.Advance(2 * time.Minute)
		p = s.SignIn(t, "coach", coachNumber)
		refresh(t, s, p.Refresh).Want(t, 200)
		logout(p.Refresh).Want(t, 204)
		works(p.Access, 401)
		works(other.Access, 401)

		// The role of a guardian ends. The next owner of the number signs in.
		coach := s.Coach(t, "+919812300001")
		id := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		former := s.SignIn(t, "guardian", guardianNumber)
		coach.Call(t, "DELETE", "/api/players/"+id, nil).Want(t, 204)
		coach.AddPlayer(t, child(2, guardianNumber))
		s.Clock.Advance(2 * time.Minute)
		owner := s.SignIn(t, "guardian", guardianNumber)
		logout(former.Refresh).Want(t, 401, "refresh_token_expired")
		works(former.Access, 401)
		works(owner.Access, 200)
	})
}
