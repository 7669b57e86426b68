package browser_test

import (
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestMessageCountsPeople writes to four players. Two of them have the same guardian and one has none,
// so that two people get the message: before and after it is sent.
func TestMessageCountsPeople(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	var guardian *touchlinetest.User
	for _, name := range []string{"Asha Rao", "Ben Rao"} {
		player := coach.AddPlayer(t, named(name, guardianNumber, "")).String("player_id")
		if guardian == nil {
			guardian = s.SignIn(t, "guardian", guardianNumber)
		}
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "approved"}).Want(t, 200)
	}
	coach.AddPlayer(t, named("Chand Khan", "+919812345691", ""))
	adult := touchlinetest.Minor("", studentNumber)
	adult["student"].(map[string]any)["date_of_birth"] = "1990-01-01"
	delete(adult, "guardian")
	coach.AddPlayer(t, adult)
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber)
	p.open("/coach/messages/write")
	p.press("See how it arrives", "for", "all", "text", "Training is at six.")
	p.answered().want(200, "2 people get it. It takes 2 SMS.", "1 person reads", "1 person who has never said yes reads", "1 person is left out").without("Ben Rao")
	p.wantText("SMS to 2 people. In the app for 1 person. 1 person gets nothing.")
	p.screenshot("message-people")
	p.press("Send to 2 people")
	p.waitForText("The message is on its way.")
	p.wantText("2 people · Guardians · SMS, In the app", "SMS to 2 people. In the app for 1 person. 1 person gets nothing.")
	for _, number := range []string{guardianNumber, "+919812345691"} {
		s.SMS(number, "message", 1)
	}
	p.get("/coach/messages").want(200, "All players", "Training is at six.", "1 left out")
}
