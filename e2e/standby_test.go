package e2e_test

import (
	"net/url"
	"testing"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestReadsOnStandby: a replica whose database refuses writes, as a hot standby does, answers reads with a token that was never used.
func TestReadsOnStandby(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.Postgres(t))
	coach := s.Coach(t, "+919812345601")
	player := coach.AddPlayer(t, touchlinetest.Minor("+919812345602", "")).String("player_id")
	standby := s.Replica(func(c *config.Config) {
		u, err := url.Parse(c.DatabaseURL.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		q.Set("default_transaction_read_only", "on")
		u.RawQuery = q.Encode()
		c.DatabaseURL = config.SecretURL(u.String())
	})
	login := s.SignIn(t, "coach", "+919812345601")
	for _, path := range []string{"/api/me", "/api/players", "/api/players/" + player} {
		standby.Call(t, "GET", path, login.Access, nil).Want(t, 200)
	}
	standby.Call(t, "POST", "/api/batches", login.Access, map[string]any{"name": "U12"}).Want(t, 503)
}
