package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/touchlinetest"
)

// count returns the number of elements of the page that match a selector.
func (p *phone) count(selector string) int {
	p.t.Helper()
	var n int
	p.do(chromedp.Evaluate(`document.querySelectorAll("`+selector+`").length`, &n))
	return n
}

// TestCoachReadsNotifications marks one and all notifications as read, follows one to its
// player, and sees a new one without loading the page again.
func TestCoachReadsNotifications(t *testing.T) {
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		p := newPhone(t, s.URL)
		p.signIn(s, "coach", coachNumber)
		p.open("/coach/notifications")
		p.screenshot("notifications-empty")
		p.waitForText("No news yet")

		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "rejected"}).Want(t, 200)
		p.waitForText("A guardian said no")
		student := s.SignIn(t, "student", studentNumber)
		student.Call(t, "PUT", "/api/approval/student-response", map[string]any{"player_id": player, "action": "approved"}).Want(t, 200)
		p.waitForText("A student said yes")
		unread := p.count(".unread")
		if unread < 2 {
			t.Fatalf("got %d unread notifications, want at least 2:\n%s", unread, p.text())
		}
		p.screenshot("notifications")
		p.checkAccessibility()
		p.do(chromedp.Click(`.unread button`, chromedp.ByQuery), chromedp.WaitNotPresent(`.unread:nth-child(1)`, chromedp.ByQuery))
		if got := p.count(".unread"); got != unread-1 {
			t.Errorf("got %d unread notifications after one was read, want %d", got, unread-1)
		}
		p.press("Mark all as read")
		if got := p.count(".unread"); got != 0 {
			t.Errorf("got %d unread notifications after all were read, want 0", got)
		}
		p.press("Open the player")
		if got := p.path(); got != "/coach/players/"+player {
			t.Errorf("the notification leads to %s, want the player", got)
		}
	})
}
