package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestReminderAfterADay checks when the page of a player offers a reminder: a day after each message,
// and a week after the first of two. The page says when.
func TestReminderAfterADay(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	path := "/coach/players/" + coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
	s.SMS(guardianNumber, "message", 0)
	added := s.Clock.Now()
	from := func(t time.Time) string {
		return "You can send a reminder from " + t.In(india).Format("Monday 2 January")
	}
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber, "remember", "yes")
	offered := func(when string, want bool, texts ...string) {
		t.Helper()
		page := p.get(path).want(200, texts...)
		if got := strings.Contains(page.raw, path+"/remind"); got != want {
			t.Errorf("%s: a reminder is offered: %v, want %v", when, got, want)
		}
	}
	p.get("/coach").want(200, "Not asked: no number")
	offered("right after adding", false, from(added.Add(24*time.Hour)))
	p.checkLayout(path)
	p.screenshot("player-added")
	s.Clock.Advance(24 * time.Hour)
	offered("after a day", true, "2 reminders are left this week.")
	first := s.Clock.Now()
	p.set("note", "The mother asks for a day to think.")
	p.press("Remind")
	p.waitForText("The reminder is on its way.")
	p.wantText("What you wrote is still here, but it is not saved yet.")
	if got := p.value("note"); got != "The mother asks for a day to think." {
		t.Errorf("after the reminder the note is %q", got)
	}
	p.screenshot("player-reminded")
	offered("right after the first reminder", false, from(first.Add(24*time.Hour)))
	s.Clock.Advance(24 * time.Hour)
	offered("a day after the first reminder", true, "1 reminder is left this week.")
	p.press("Remind")
	p.waitForText("The reminder is on its way.")
	s.Clock.Advance(48 * time.Hour)
	offered("after two reminders", false, "You have used the reminders of this week.", from(first.Add(7*24*time.Hour)))
	s.Clock.Advance(4 * 24 * time.Hour)
	offered("a week after the first reminder", true, "1 reminder is left this week.")
}
