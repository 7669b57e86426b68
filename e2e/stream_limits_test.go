package e2e_test

import (
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestStreamLimitPerAccount: ten streams per account on both replicas together; one more ends
// the oldest.
func TestStreamLimitPerAccount(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		other := s.Coach(t, coach2Number)
		apart := openStream(t, other, "")
		replicas := []*touchlinetest.User{coach, coach.On(s.Replica())}
		var all []*streamReader
		for i := range 11 {
			all = append(all, openStream(t, replicas[i/3%2], ""))
		}
		all[0].ends(waitLimit)
		player := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		decideAsGuardian(t, guardian, player, "approved")
		for _, f := range all[1:] {
			f.next(waitLimit)
		}
		player = other.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		decideAsGuardian(t, guardian, player, "approved")
		apart.next(waitLimit)
	})
}

// TestStreamLimitPerReplica: a replica refuses a stream beyond STREAMS; another replica
// and other calls are not affected.
func TestStreamLimitPerReplica(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		other := s.Replica()
		coach, late := s.Coach(t, coachNumber), s.Coach(t, coach2Number)
		first := openStream(t, coach, "")
		openStream(t, coach, "")
		refused := late.Call(t, "GET", "/api/notifications/stream", nil).Want(t, 503, "overloaded")
		if refused.Header.Get("Retry-After") == "" {
			t.Error("503 has no Retry-After")
		}
		late.Call(t, "GET", "/api/notifications", nil).Want(t, 200)
		openStream(t, late.On(other), "")
		first.stop()
		eventually(t, "the closed stream makes room", func() bool {
			a, err := s.Do(t.Context(), "HEAD", "/api/notifications/stream", late.Access, nil)
			return err == nil && a.Status == 200
		})
		openStream(t, late, "")
	}, func(c *config.Config) { c.Streams = 2 })
}
