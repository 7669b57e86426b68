package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
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
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		p := newPhone(t, s.URL)
		p.signIn(s, "coach", coachNumber)
		p.open("/coach/notifications")
		p.screenshot("notifications-empty")
		p.waitForText("No news yet")

		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "rejected"}).Want(t, 200)
		p.waitForText("Guardian said no")
		student := s.SignIn(t, "student", studentNumber)
		student.Call(t, "PUT", "/api/approval/student-response", map[string]any{"player_id": player, "action": "approved"}).Want(t, 200)
		p.waitForText("Student said yes")
		unread := p.count(".unread")
		if unread < 2 {
			t.Fatalf("got %d unread notifications, want at least 2:\n%s", unread, p.text())
		}
		p.screenshot("notifications")
		p.checkAccessibility()
		p.press("Mark all as read")
		if got := p.count(".unread"); got != 0 {
			t.Errorf("got %d unread notifications after all were read, want 0", got)
		}
		p.click(`.news-list a[href="/coach/players/` + player + `"]`)
		if got := p.path(); got != "/coach/players/"+player {
			t.Errorf("the notification leads to %s, want the player", got)
		}
	})
}

// threePlans has a plan on request, and one with less than a new coach has.
const threePlans = `{"tiers": [
	{"name": "free", "title": "Free", "self_service": true, "limits": {"players": 250, "unverified_players": 25, "storage_bytes": 209715200, "messages_per_day": 200},
		"features": ["chat", "sms", "roster", "documents", "directory"], "shows": ["name", "bio", "sports"]},
	{"name": "pro", "title": "Pro", "self_service": false, "limits": {"players": 1000, "storage_bytes": 2147483648, "messages_per_day": 0},
		"features": ["chat", "sms", "roster", "documents", "directory", "import", "export"], "shows": ["name", "bio", "sports"]},
	{"name": "small", "title": "Small", "self_service": true, "limits": {"players": 1, "storage_bytes": 209715200, "messages_per_day": 0},
		"features": ["chat", "sms", "roster"], "shows": ["name"]}
]}`

// TestCoachSettings changes the language and the time zone, signs out another device, asks
// for one plan and takes another.
func TestCoachSettings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tiers.json")
	if err := os.WriteFile(file, []byte(threePlans), 0o600); err != nil {
		t.Fatal(err)
	}
	plans := func(c *config.Config) { c.Tiers = file }
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		user := s.Coach(t, coachNumber)
		second := touchlinetest.Minor(guardianNumber, studentNumber)
		second["student"].(map[string]any)["full_name"] = "Bela Rao"
		for _, player := range []map[string]any{touchlinetest.Minor(guardianNumber, studentNumber), second} {
			user.AddPlayer(t, player).Want(t, 201)
		}
		p := newPhone(t, s.URL)
		p.signIn(s, "coach", coachNumber)
		p.open("/coach/settings")
		p.screenshot("settings")
		p.press("Sign out: test phone")
		user.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
		p.press("Save", "time_zone", "Asia/Dubai", "language", "hi")
		if got := p.heading(); got != "सेटिंग" {
			t.Errorf("got the heading %q after choosing Hindi", got)
		}
		p.screenshot("settings-hi")
		user = s.SignIn(t, "coach", coachNumber)
		saved := user.Call(t, "GET", "/api/me/preferences", nil).Want(t, 200)
		if saved.String("language") != "hi" || saved.String("time_zone") != "Asia/Dubai" {
			t.Errorf("got the preferences %s %s, want hi Asia/Dubai", saved.String("language"), saved.String("time_zone"))
		}
		p.press("सहेजें", "language", "en")

		p.press("Compare the plans")
		p.checkAccessibility()
		p.screenshot("plan")
		p.press("Ask for Pro")
		p.screenshot("plan-check")
		p.press("Ask for Pro")
		if got := user.Call(t, "GET", "/api/coach/subscription", nil).String("requested_tier"); got != "pro" {
			t.Errorf("got the request for %q, want pro", got)
		}
		p.waitForText("Requested")
		p.press("Take my request back")
		if got := user.Call(t, "GET", "/api/coach/subscription", nil).String("requested_tier"); got != "" {
			t.Errorf("got the request for %q after it was taken back", got)
		}
		p.press("Take Small")
		p.waitForText("You have more")
		p.checkAccessibility()
		p.screenshot("plan-down")
		p.press("Take Small")
		if got := user.Call(t, "GET", "/api/coach/subscription", nil).String("tier"); got != "small" {
			t.Errorf("got the tier %q, want small", got)
		}
		p.do(chromedp.EmulateViewport(1280, 800))
		p.width = 1280
		p.screenshot("plan")
		p.open("/coach/settings")
		p.waitForText("0, no limit")
		p.screenshot("settings")
		p.tap(`details:has(button.danger) summary`)
		p.click(`button.danger`)
		p.open("/coach/settings")
		if got := p.path(); !strings.HasPrefix(got, "/sign-in/coach") {
			t.Errorf("got %s after signing out everywhere, want the sign-in", got)
		}
		user.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
	}, plans)
}
