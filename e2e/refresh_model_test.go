package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// sessionModel is the rules for the refresh tokens of one session, as simple as
// possible. It knows tokens by generation.
type sessionModel struct {
	began, idle time.Time
	newest      int
	used        map[int]time.Time // time of the first use of a generation's tokens
	revoked     bool
}

// use returns the expected problem code of a call with an access token issued at
// made.
func (m *sessionModel) use(generation int, made, now time.Time) string {
	switch {
	case !now.Before(made.Add(15 * time.Minute)):
		return "token_expired"
	case m.revoked, m.ended(now):
		return "session_revoked"
	}
	if m.used[generation].IsZero() {
		m.used[generation] = now
	}
	return ""
}

// refresh returns the expected problem code of a refresh with a generation's
// token.
func (m *sessionModel) refresh(generation int, now time.Time) string {
	successor := m.used[generation+1]
	switch {
	case m.revoked:
		return "session_revoked"
	case m.ended(now), !now.Before(m.idle):
		return "refresh_token_expired"
	case generation == m.newest:
		if m.used[generation].IsZero() {
			m.used[generation] = now
		}
		m.newest++
		m.idle = now.Add(14 * 24 * time.Hour)
		return ""
	case successor.IsZero():
		return "" // the same successor again
	case now.Sub(successor) <= 30*time.Second:
		return "refresh_token_raced"
	}
	m.revoked = true
	return "refresh_token_reused"
}

func (m *sessionModel) ended(now time.Time) bool {
	return !now.Before(m.began.Add(30 * 24 * time.Hour))
}

// TestRefreshMatchesModel: random uses and refreshes with tokens of the last
// three generations match the model.
func TestRefreshMatchesModel(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		for seed := range uint64(storetest.Rounds(6, 25)) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				checkRandomSession(t, s, rand.New(rand.NewPCG(seed, 0)), fmt.Sprintf("+9198127%05d", seed))
			})
		}
	})
}

// checkRandomSession advances the clock in steps that never end near a limit,
// because the service's clock runs on during a call.
func checkRandomSession(t *testing.T, s *touchlinetest.Service, random *rand.Rand, number string) {
	p := s.SignIn(t, "coach", number)
	began := s.Clock.Now()
	m := &sessionModel{began: began, idle: began.Add(14 * 24 * time.Hour), newest: 1, used: map[int]time.Time{}}
	type access struct {
		token      string
		generation int
		made       time.Time
	}
	tokens, accesses := []string{"", p.Refresh}, []access{{p.Access, 1, began}}
	steps := []time.Duration{0, 0, 0, 7 * time.Second, 13 * time.Second, 37 * time.Second, 7 * time.Minute, 5 * 24 * time.Hour}
	var longest time.Duration // of a call
	for range 40 {
		// No key rotation: the access token of a removed key is invalid, not expired.
		s.Clock.Skip(steps[random.IntN(len(steps))])
		now := s.Clock.Now()
		if random.IntN(2) == 0 {
			a := accesses[max(0, len(accesses)-1-random.IntN(3))]
			got, want := s.Call(t, "GET", "/api/me", a.token, nil).Code(), m.use(a.generation, a.made, now)
			longest = max(longest, s.Clock.Now().Sub(now))
			if limit := a.made.Add(15 * time.Minute); now.Before(limit) && !s.Clock.Now().Before(limit.Add(-time.Second)) {
				continue // the token expired during the call; its times are whole seconds
			}
			if got != want {
				t.Fatalf("use of generation %d, newest %d, after %s: got %q, want %q", a.generation, m.newest, now.Sub(began), got, want)
			}
			continue
		}
		generation := max(1, m.newest-random.IntN(3))
		newest, successor := m.newest, m.used[generation+1]
		a := refresh(t, s, tokens[generation])
		longest = max(longest, s.Clock.Now().Sub(now))
		if !successor.IsZero() && (now.Sub(successor)-30*time.Second).Abs() <= 2*longest {
			return // the time in which a refresh may repeat ended during a call
		}
		if got, want := a.Code(), m.refresh(generation, now); got != want {
			t.Fatalf("refresh of generation %d, newest %d, after %s: got %q, want %q", generation, newest, now.Sub(began), got, want)
		}
		if a.Status != 200 {
			continue
		}
		switch successor := a.String("refresh_token"); {
		case generation == newest:
			tokens = append(tokens, successor)
		case tokens[generation+1] != successor:
			t.Fatalf("refresh of generation %d: got another successor", generation)
		}
		accesses = append(accesses, access{a.String("access_token"), generation + 1, now})
	}
}
