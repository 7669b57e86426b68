package e2e_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestRefreshGracePerToken: the grace period of a token starts at the first use of its
// successor.
func TestRefreshGracePerToken(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		p := s.SignIn(t, "coach", coachNumber)
		token := refresh(t, s, p.Refresh).Want(t, 200).String("refresh_token")
		for range 4 { // the first call uses the successor of p.Refresh, 60 s before the end
			token = refresh(t, s, token).Want(t, 200).String("refresh_token")
			s.Clock.Advance(20 * time.Second)
		}
		refresh(t, s, p.Refresh).Want(t, 401, "refresh_token_reused")
	})
}
