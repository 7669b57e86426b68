package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// digestBodies returns the texts of p's digests of pending requests, newest
// first.
func digestBodies(t *testing.T, p *touchlinetest.User) (bodies []string) {
	t.Helper()
	for _, n := range p.Call(t, "GET", "/api/notifications?limit=200", nil).Want(t, 200).Items() {
		if n["type"] == "pending_reminder" {
			bodies = append(bodies, n["body"].(string))
		}
	}
	return bodies
}

// TestDigest: a coach is notified once of requests that are pending for more than
// three days, by one of several replicas, then every three days until none is
// pending.
func TestDigest(t *testing.T) {
	t.Parallel()
	// Longer than the interval of the digest job.
	const jobInterval = 3 * time.Second
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Replica()
		s.Replica()
		coach, idle := s.Coach(t, coachNumber), s.Coach(t, coach2Number)
		one := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		two := coach.AddPlayer(t, child(2, guardianNumber)).String("guardian_request_id")
		approved := idle.AddPlayer(t, child(3, otherNumber))
		guardian := s.SignIn(t, "guardian", otherNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": approved.String("player_id"), "action": "approved"}).Want(t, 200)

		s.Clock.Advance(3*day - time.Minute)
		coach, idle = renewTokens(t, coach), renewTokens(t, idle)
		never(t, s, "notified before three days", jobInterval, func() bool { return len(digestBodies(t, coach)) > 0 })
		s.Clock.Advance(time.Minute)
		eventually(t, "the coach is notified", func() bool { return len(digestBodies(t, coach)) > 0 })
		never(t, s, "notified twice", jobInterval, func() bool { return len(digestBodies(t, coach)) > 1 })
		if body := digestBodies(t, coach)[0]; body != "You have 3 approval requests pending for more than 3 days." {
			t.Errorf("digest: got %q, want three requests", body)
		}

		// One is decided and one cancelled; the third is in the next digest,
		// three days later.
		guardian = s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": one, "action": "rejected"}).Want(t, 200)
		coach.Call(t, "POST", "/api/approval/requests/"+two+"/cancel", nil).Want(t, 200)
		s.Clock.Advance(3*day - time.Minute)
		coach = renewTokens(t, coach)
		never(t, s, "notified again before three days", jobInterval, func() bool { return len(digestBodies(t, coach)) > 1 })
		s.Clock.Advance(time.Minute)
		eventually(t, "the coach is notified again", func() bool { return len(digestBodies(t, coach)) > 1 })
		never(t, s, "notified three times", jobInterval, func() bool { return len(digestBodies(t, coach)) > 2 })
		if body := digestBodies(t, coach)[0]; !strings.HasPrefix(body, "You have 1 approval request ") {
			t.Errorf("digest: got %q, want one request", body)
		}

		coach.Call(t, "DELETE", "/api/players/"+one, nil).Want(t, 204)
		s.Clock.Advance(4 * day)
		coach, idle = renewTokens(t, coach), renewTokens(t, idle)
		never(t, s, "notified although nothing is pending", jobInterval, func() bool { return len(digestBodies(t, coach)) > 2 || len(digestBodies(t, idle)) > 0 })
	})
}
