package browser_test

import (
	"testing"
	"unicode/utf8"

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

// TestFormsRefuseInvalidText checks that a page never repeats text that is not UTF-8.
func TestFormsRefuseInvalidText(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	_, c := newFormClient(t, s, coachNumber)
	for _, got := range []answer{
		c.post("/coach/profile", "name", "\xff\xfe", "bio", "Hockey").want(422),
		c.post("/coach/players/add", "\xff", "x").want(422),
		c.get("/sign-in/coach?next=/%ff").want(200),
		c.get("/coach/players?q=%ff").want(200),
	} {
		if !utf8.ValidString(got.body) {
			t.Errorf("%s: the page is not UTF-8", got.path)
		}
	}
}
