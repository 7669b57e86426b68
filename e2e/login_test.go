package e2e_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/touchlinetest"
)

// TestClockBehind: sign-in works on a replica whose clock is behind that of the
// replica which created the signing key.
func TestClockBehind(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Clock.Advance(-10 * time.Second)
		p := s.SignIn(t, "coach", coachNumber)
		p.Call(t, "GET", "/api/me", nil).Want(t, 200)
		refresh(t, s, p.Refresh).Want(t, 200)
	})
}
