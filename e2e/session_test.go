package e2e_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

func refresh(t *testing.T, s *touchlinetest.Service, token string) *touchlinetest.Response {
	t.Helper()
	return s.Call(t, "POST", "/auth/refresh", "", map[string]any{"refresh_token": token})
}

// TestConcurrentRefreshes: 50 concurrent refreshes on two replicas get the same
// successor.
func TestConcurrentRefreshes(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		replicas := []*touchlinetest.Service{s, s.Replica()}
		p := s.SignIn(t, "coach", coachNumber)
		successors := make(chan string, 50)
		var wait sync.WaitGroup
		for i := range 50 {
			wait.Go(func() {
				a, err := replicas[i%2].Do(context.Background(), "POST", "/auth/refresh", "", map[string]any{"refresh_token": p.Refresh})
				if err != nil || a.Status != 200 {
					successors <- "failed"
					return
				}
				successors <- a.String("refresh_token")
			})
		}
		wait.Wait()
		close(successors)
		distinct := map[string]int{}
		for token := range successors {
			distinct[token]++
		}
		if len(distinct) != 1 || distinct["failed"] > 0 {
			t.Fatalf("got %d different responses to 50 refreshes, want 1", len(distinct))
		}
	}, touchlinetest.ManyConnections)
}

// TestRefreshWithLostResponse: a refresh can be repeated while its successor is
// unused. A race is harmless; a reuse ends the session.
func TestRefreshWithLostResponse(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		p := s.SignIn(t, "coach", coachNumber)
		first := refresh(t, s, p.Refresh).Want(t, 200)
		s.Clock.Advance(6 * 24 * time.Hour)
		again := refresh(t, s, p.Refresh).Want(t, 200)
		if first.String("refresh_token") != again.String("refresh_token") {
			t.Fatal("got another successor")
		}
		s.Call(t, "GET", "/api/me", again.String("access_token"), nil).Want(t, 200) // first use
		refresh(t, s, p.Refresh).Want(t, 401, "refresh_token_raced")
		s.Call(t, "GET", "/api/me", again.String("access_token"), nil).Want(t, 200)
		s.Clock.Advance(31 * time.Second)
		refresh(t, s, p.Refresh).Want(t, 401, "refresh_token_reused")
		s.Call(t, "GET", "/api/me", again.String("access_token"), nil).Want(t, 401, "session_revoked")
		refresh(t, s, again.String("refresh_token")).Want(t, 401, "session_revoked")

		p = s.SignIn(t, "coach", coachNumber)
		notifications := 0
		for _, n := range p.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items() {
			if n["type"] == "security_notice" {
				notifications++
			}
		}
		if notifications != 1 {
			t.Fatalf("got %d security notifications, want 1", notifications)
		}
	})
}

// TestTokensExpire: an access token expires after 15 minutes, a refresh token after
// 14 idle days, a session after 30 days.
func TestTokensExpire(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		p := s.SignIn(t, "coach", coachNumber)
		s.Clock.Advance(15*time.Minute + time.Second)
		p.Call(t, "GET", "/api/me", nil).Want(t, 401, "token_expired")
		token := p.Refresh
		for range 3 {
			s.Clock.Advance(9 * 24 * time.Hour)
			token = refresh(t, s, token).Want(t, 200).String("refresh_token")
		}
		s.Clock.Advance(3*24*time.Hour - 20*time.Minute) // 5 minutes before the end of the session
		last := refresh(t, s, token).Want(t, 200)
		if in, _ := last.JSON["expires_in"].(float64); in > 300 {
			t.Errorf("the access token ends in %.0f s, the session in less than 300", in)
		}
		s.Clock.Advance(5 * time.Minute)
		refresh(t, s, last.String("refresh_token")).Want(t, 401, "refresh_token_expired")

		p = s.SignIn(t, "coach", coachNumber)
		s.Clock.Advance(14*24*time.Hour + time.Second)
		refresh(t, s, p.Refresh).Want(t, 401, "refresh_token_expired")
		refresh(t, s, "not-a-token").Want(t, 401, "refresh_token_invalid")
	})
}

// TestLogout: all replicas see a logout at the next request.
func TestLogout(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		other := s.Replica()
		p := s.SignIn(t, "coach", coachNumber)
		p.On(other).Call(t, "GET", "/api/me", nil).Want(t, 200)
		p.Call(t, "POST", "/auth/logout", nil).Want(t, 204)
		p.On(other).Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
		refresh(t, other, p.Refresh).Want(t, 401, "session_revoked")

		s.Clock.Advance(2 * time.Minute)
		one := s.SignIn(t, "coach", coachNumber)
		s.Clock.Advance(2 * time.Minute)
		two := s.SignIn(t, "coach", coachNumber)
		if n := len(one.Call(t, "GET", "/auth/sessions", nil).Want(t, 200).Items()); n != 2 {
			t.Fatalf("got %d sessions, want 2", n)
		}
		two.Call(t, "DELETE", "/auth/sessions/"+one.Login.String("session_id"), nil).Want(t, 204)
		one.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
		two.Call(t, "DELETE", "/auth/sessions/"+one.Login.String("session_id"), nil).Want(t, 404, "not_found")
		s.Call(t, "POST", "/auth/logout", "", map[string]any{"refresh_token": two.Refresh, "all": true}).Want(t, 204)
		two.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
	})
}
