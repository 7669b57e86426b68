package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestFirstDayList follows the list on Today from an empty service to the first attendance, on a phone. It goes away when it is done.
func TestFirstDayList(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	p := newPhone(t, s.URL)
	p.do(emulation.SetDeviceMetricsOverride(360, 740, 1, true))
	p.open("/sign-in/coach")
	p.fill("number", "98123 45678")
	p.press("Send me a code")
	p.enterCode(s, coachNumber, 0)
	p.wantText("Your first day", "Your profile", "Your first batch", "Its players", "First attendance")
	p.press("Complete my profile")
	for name, value := range map[string]string{"name": "Meera Nair", "bio": "Hockey for every child.", "experience_years": "7", "sports": "hockey"} {
		p.fill(name, value)
	}
	p.press("Save")
	p.press("See what a family sees")
	p.wantText("Nothing is sent.", "Coach Meera Nair", "Asha")
	if s.Sent(guardianNumber, "message") != 0 {
		t.Error("the preview sent a message")
	}
	p.open("/coach")
	p.press("Make a batch")
	p.fill("name", "U12 Evening")
	p.press("Save")
	var end float64
	p.script(`document.querySelector('main .button').getBoundingClientRect().bottom`, &end)
	if end > 740-57 {
		t.Errorf("the way to add players to a new batch ends at %.0f px, not in the first view", end)
	}
	p.press("Add a new player")
	for name, value := range map[string]string{"student_name": "Asha Rao", "guardian_name": "Ravi Rao", "relationship": "father", "guardian_number": "98123 45680"} {
		p.fill(name, value)
	}
	p.setValue("date_of_birth", "2014-04-30")
	p.press("Add and ask")
	p.open("/coach")
	p.wantText("Add more", "one tap for all who are here")
	p.press("Take attendance")
	p.tap(".rest")
	p.press("Save")
	p.waitForText("Saved.")
	p.open("/coach")
	if strings.Contains(p.words(), "Your first day") {
		t.Errorf("the list is still there: %s", p.words())
	}
}
