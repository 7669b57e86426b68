//go:build unix

package e2e_test

import (
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestWithoutNotifyAndAdvisoryLocks: replicas migrate, and an event of one reaches a stream of another, on a server
// that has neither NOTIFY nor advisory locks, as some distributed databases.
func TestWithoutNotifyAndAdvisoryLocks(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.LimitedPostgres(t))
	coach := s.Coach(t, coachNumber)
	stream := openStream(t, coach.On(s.Replica()), "")
	player := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
	decideAsGuardian(t, s.SignIn(t, "guardian", guardianNumber), player, "approved")
	if got := stream.next(waitLimit); got.event != "notification" {
		t.Errorf("got event %q, want notification", got.event)
	}
}
