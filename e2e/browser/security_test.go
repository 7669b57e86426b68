package browser_test

import (
	"testing"

	"github.com/touchline/touchline/internal/storetest"
	"github.com/touchline/touchline/internal/touchlinetest"
)

// TestFormsWithoutFileRefuseMultipart checks that a form cannot skip the check of its account
// with another media type.
func TestFormsWithoutFileRefuseMultipart(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach, c := newFormClient(t, s, coachNumber)
	player := coach.AddPlayer(t, touchlinetest.Minor("+919812345680", "")).String("player_id")
	for _, path := range []string{"/coach/players/" + player + "/remove", "/coach/players/" + player + "/remove?account=" + coach.ID, "/coach/settings", "/sign-out", "/a"} {
		if got := c.upload(path, []byte("x")); got.status != 422 {
			t.Errorf("%s: got status %d, want 422", path, got.status)
		}
	}
	c.get("/coach/players/" + player).want(200)
}
