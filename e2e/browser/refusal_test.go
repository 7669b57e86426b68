package browser_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestRefusalIsShownOnce checks that a no shows among what needs the coach, in a neutral colour, until
// the coach has opened the player, and that only a reason leads to a reason.
func TestRefusalIsShownOnce(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	asha := coach.AddPlayer(t, named("Asha Rao", guardianNumber, "")).String("player_id")
	bela := coach.AddPlayer(t, named("Bela Das", guardianNumber, "")).String("player_id")
	guardian := s.SignIn(t, "guardian", guardianNumber)
	refuse := func(player, reason string) {
		t.Helper()
		body := map[string]any{"player_id": player, "action": "rejected"}
		if reason != "" {
			body["reason"] = reason
		}
		guardian.Call(t, "PUT", "/api/approval/guardian-response", body).Want(t, 200)
	}
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber)
	p.open("/coach/players/" + asha) // it stays open, as in another tab
	refuse(asha, "We move to Pune.")
	p.waitForText("The guardian said no")
	refuse(bela, "")
	p.get("/coach").want(200, "Asha Rao", "Bela Das", "Said no")
	p.screenshot("refusals")
	if n := p.count("#needs-you .count, .needs .status.no, .needs .status.wait"); n != 1 {
		t.Errorf("the refusals are not neutral, or have no count:\n%s", p.html())
	}
	if got := p.count(`.needs a[href='/coach/players/` + bela + `#guardian-reason']`); got != 0 {
		t.Error("a no without a reason leads to a reason")
	}
	p.press("See the reason")
	if got := p.path(); got != "/coach/players/"+asha+"#guardian-reason" {
		t.Errorf("the reason is at %s", got)
	}
	var top, height float64
	p.script(`document.getElementById('guardian-reason').getBoundingClientRect().top`, &top)
	p.script(`innerHeight`, &height)
	if top < 0 || top > height {
		t.Errorf("the reason is %v px below the top of a window of %v px", top, height)
	}
	p.wantText("“We move to Pune.”")
	if p.count(".status.no") != 0 {
		t.Errorf("the page shows a no as a fault:\n%s", p.html())
	}
	p.screenshot("refusal")
	if page := p.get("/coach").want(200, "Bela Das"); strings.Contains(p.words(), "Asha Rao") {
		t.Errorf("the refusal that the coach has read is still a need:\n%s", page.body)
	}
	p.press("Open")
	p.wantHeading("Bela Das")
	p.get("/coach").want(200, "Nothing needs you at the moment.")
	p.get("/coach/players").want(200, "Guardian no").without("Needs you", "status no")

	// Another no is shown again.
	coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": asha}).Want(t, 201)
	refuse(asha, "")
	p.get("/coach").want(200, "Asha Rao", "Said no").without("See the reason", "Bela Das")
}
