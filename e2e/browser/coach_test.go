package browser_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// waitForText waits until the page shows text, without loading it again.
func (p *phone) waitForText(text string) {
	p.t.Helper()
	for end := time.Now().Add(loadTimeout); !strings.Contains(p.text(), text); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("the page does not show %q:\n%s", text, p.text())
		}
	}
}

// waitUntil waits until a script returns true.
func (p *phone) waitUntil(script string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, loadTimeout)
	defer cancel()
	var is bool
	if err := chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) error { return wait(ctx, "("+script+") || null", &is) })); err != nil {
		p.t.Fatalf("%v\n%s", err, p.text())
	}
}

// TestFirstDay is the first day of a coach: register, complete the profile, add a player,
// and see the answers of both parties without loading the page again.
func TestFirstDay(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := newPhone(t, s.URL, width(1280))
		coach.open("/")
		coach.screenshot("start")
		coach.press("Sign in or register")
		coach.fill("number", "98123 45678")
		coach.screenshot("sign-in")
		coach.press("Send me a code")
		coach.press("Enter another number")
		coach.fill("number", "98123 45678")
		coach.press("Send me a code")
		coach.enterCode(s, coachNumber, 0)
		if got := coach.path(); got != "/coach" {
			t.Fatalf("got the page %s after the sign-in, want /coach", got)
		}
		coach.press("Complete my profile")
		coach.press("Save")
		coach.screenshot("profile-faults")
		coach.fill("name", "Meera Nair")
		coach.fill("bio", "Hockey for every child.")
		coach.fill("experience_years", "7")
		coach.fill("sports", "hockey, football")
		coach.screenshot("profile")
		coach.press("Save")
		coach.press("Add a player")
		coach.fill("student_name", "Asha Rao")
		coach.setValue("date_of_birth", "2014-04-30")
		coach.fill("student_number", "98123 45679")
		coach.fill("guardian_name", "Ravi Rao")
		coach.fill("relationship", "father")
		coach.fill("guardian_number", "98123 45680")
		coach.screenshot("add-player")
		coach.press("Add and ask")
		if got := coach.heading(); got != "Asha Rao" {
			t.Fatalf("got the page %q after adding, want the player", got)
		}
		coach.waitForText("SMS: sent")
		coach.wantText("In the app: there to read")
		if coach.count(".delivery .yes") != 0 {
			t.Errorf("the page says that a message was delivered:\n%s", coach.text())
		}
		coach.screenshot("player")

		guardian := newPhone(t, s.URL)
		guardian.open(linkTo(t, s, guardianNumber, 0))
		guardian.press("Answer")
		guardian.enterCode(s, guardianNumber, 0)
		guardian.press("Yes, for Asha Rao")
		guardian.press("Say yes")
		coach.waitForText("The guardian said yes")

		student := newPhone(t, s.URL)
		student.open(linkTo(t, s, studentNumber, 0))
		student.press("Answer")
		student.enterCode(s, studentNumber, 0)
		student.press("No, not for me")
		student.press("Say no")
		coach.waitForText("The student said no")
		coach.screenshot("player-answered")
		coach.open("/coach/players")
		coach.screenshot("players")
		coach.do(chromedp.EmulateViewport(360, 800))
		coach.width = 360
		coach.screenshot("players")
		coach.open("/coach")
		coach.screenshot("today")

		guardian.press("Your family")
		guardian.press("Asha Rao")
		guardian.press("Change: Take my yes back")
		guardian.press("Take my yes back")
		coach.open("/coach/players")
		coach.waitForText("Guardian took it back")
	})
}
