package browser_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// named returns a player's body with another name and numbers.
func named(name, guardian, student string) map[string]any {
	body := touchlinetest.Minor(guardian, student)
	body["student"].(map[string]any)["full_name"] = name
	return body
}

var begunField = regexp.MustCompile(`name="begun" value="([0-9]+)"`)

// TestRosterPages reads the roster, searches, notes a call, reminds all, and shows codes.
func TestRosterPages(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber, "remember", "yes")
	p.get("/coach/players").want(200, "You have no players yet")
	p.screenshot("roster-empty")
	const hostile = `<script>alert("x")</script>`
	asha := coach.AddPlayer(t, named("Asha Rao", guardianNumber, studentNumber)).String("player_id")
	bela := coach.AddPlayer(t, named(hostile, "+919812345690", "")).String("player_id")
	for _, number := range []string{guardianNumber, studentNumber, "+919812345690"} {
		s.SMS(number, "message", 0)
	}
	s.SignIn(t, "student", studentNumber).Call(t, "PUT", "/api/approval/student-response", map[string]any{"player_id": asha, "action": "rejected"}).Want(t, 200)
	if raw := p.get("/coach/players").want(200, hostile, "Needs you", "Student no"); strings.Contains(raw.raw, "<script>alert") {
		t.Error("the list has the name as a script")
	}
	p.screenshot("roster")
	p.get("/coach/players?student=rejected").want(200, "Asha Rao").without("alert(", "Needs you")
	p.open("/coach/players")
	p.press("Search", "q", "5690")
	p.answered().want(200, "alert(").without("Asha Rao")
	p.get("/coach/players?q=%00%ff&after=%00&guardian=%ff").want(200, "Asha Rao")
	p.press("Search", "q", "zzz")
	p.answered().want(200, "No player fits")
	request := coach.Call(t, "GET", "/api/players/"+bela, nil).String("guardian_request_id")
	code := coach.Call(t, "GET", "/api/approval/requests/"+request, nil).String("short_code")
	s.Clock.Advance(49 * time.Hour)
	p.get("/coach").want(200, "Needs you", "No answer for 48 hours", "I called", "0 guardians, 0 students", "2 of 250")
	p.screenshot("roster-needs")
	// Asha Rao is the other one who needs a call.
	p.click(`form[action="/coach/players/` + bela + `/call"] button`)
	p.answered().want(200, "We noted your call.").without("<b>" + hostile)
	s.Clock.Advance(24 * time.Hour)
	p.get("/coach/players?show=needs").want(200, "No answer for 3 days")

	page := p.get("/coach/players/remind").want(200, "2 people get a reminder.", "Send 2 reminders")
	begun := begunField.FindStringSubmatch(page.body)[1]
	form := p.keep()
	for range 2 {
		p.restore(form)
		p.press("Send 2 reminders")
		p.answered().want(200, "The reminders are made.")
	}
	p.get("/coach/players/"+asha).want(200, "1 reminder is left this week.")
	s.SMS(guardianNumber, "message", 1)
	s.SMS("+919812345690", "message", 1)
	p.get("/coach/players/remind").want(200, "There is no one to remind", "2 people get none: their last message is less than a day old.")
	s.Clock.Advance(24 * time.Hour)
	for end := time.Now().Add(10 * time.Second); !strings.Contains(page.body, "2 people get a reminder") || begunField.FindStringSubmatch(page.body)[1] == begun; page = p.get("/coach/players/remind") {
		if time.Now().After(end) {
			t.Fatalf("the reminders were not delivered:\n%s", page.body)
		}
	}
	p.press("Send 2 reminders")
	p.answered().want(200)
	s.SMS(guardianNumber, "message", 2)
	s.SMS("+919812345690", "message", 2)
	p.get("/coach/players/remind").want(200, "There is no one to remind", "2 people get none: their reminders of this week are used up.")

	p.get("/coach/players/"+bela+"/qr?party=guardian").want(200, "<svg", code, s.URL+"/a and enter", "https://wa.me/?text=", "%2Fa%3Fcode%3D"+code).without("/a/", "%2Fa%2F")
	if closed := p.get("/coach/players/" + asha + "/qr?party=student"); closed.path != "/coach/players/"+asha {
		t.Errorf("a closed question has a code at %s", closed.path)
	}
	// A sheet for the players selected in the list.
	p.open("/coach/players?select=1")
	p.do(chromedp.Evaluate(`document.querySelectorAll('[name=player]').forEach((box) => box.click())`, nil))
	p.press("Print QR codes")
	sheet := p.answered().want(200, code, "Asha Rao", hostile)
	if n := strings.Count(sheet.body, "<svg xmlns"); n != 2 {
		t.Errorf("the sheet has %d codes, want 2", n)
	}
	p.screenshot("roster-sheet")
	p.get("/coach/players/sheet").want(200, "Select players in the list first")
	_, other := newFormClient(t, s, "+919812345699")
	other.get("/coach/players/" + bela + "/qr?party=guardian").want(404)
	other.get("/coach/players/sheet?player="+bela).want(200, "These players have no open question").without(code)
	other.get("/coach/players").want(200).without("Asha Rao")
}

// visible returns the number of visible elements that match a selector.
func (p *phone) visible(selector string) int {
	p.t.Helper()
	var n int
	p.do(chromedp.Evaluate(`[...document.querySelectorAll("`+selector+`")].filter((e) => e.checkVisibility()).length`, &n))
	return n
}

func TestLongRoster(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach, c := newFormClient(t, s, coachNumber)
	for i := range 60 {
		number := "+9198123" + strconv.Itoa(10000+i)
		coach.AddPlayer(t, named(fmt.Sprintf("Player %d", i), number, number))
	}
	page := c.get("/coach/players").want(200, ">60<", ">Player 0<", "Player 53", "More players").without(">Player 9<")
	next := regexp.MustCompile(`/coach/players\?after=[^"]+`).FindString(page.body)
	c.get(next).want(200, ">Player 9<", "Player 54").without("Player 53", "More players")
	c.get("/coach/players?from=P").want(200, ">Player 0<")
	c.get("/coach/players?from=Q").want(200).without("Player 0")
	var selected []string
	choice := c.get("/coach/players?select=1").want(200, "Player 59", "Player 9").without("More players")
	for _, match := range regexp.MustCompile(`name="player" value="([^"]+)"`).FindAllStringSubmatch(choice.body, -1) {
		selected = append(selected, "player="+match[1])
	}
	sheet := c.get("/coach/players/sheet?"+strings.Join(selected, "&")).want(200, "Next sheet")
	for _, page := range []answer{page, choice, sheet} {
		if len(page.raw) > 250<<10 {
			t.Errorf("%s has %d bytes, want at most 250 KiB", page.path, len(page.raw))
		}
	}
	id := strings.TrimPrefix(selected[0], "player=")
	coach.Call(t, "PATCH", "/api/players/"+id, map[string]any{"student": map[string]any{"full_name": "Zora Rao"}}).Want(t, 200)
	p := newPhone(t, s.URL)
	s.Clock.Advance(75 * time.Hour)
	p.open("/sign-in/coach?next=/coach/players")
	p.fill("number", "98123 45678")
	p.press("Send me a code")
	p.enterCode(s, coachNumber, 2)
	// A name among 60 is found in two taps.
	p.do(emulation.SetDeviceMetricsOverride(360, 740, 1, true))
	p.open("/coach")
	p.press("Players")
	p.press("Z")
	var inView bool
	p.script(`[...document.querySelectorAll('.roster a')].some((a) => a.innerText.includes('Zora Rao') && a.getBoundingClientRect().bottom < innerHeight - 57)`, &inView)
	if !inView {
		t.Errorf("Zora Rao is not in the first view: %s", p.words())
	}
	p.do(emulation.ClearDeviceMetricsOverride())
	p.do(emulation.SetEmulatedMedia().WithMedia("print"))
	p.open("/coach/players/sheet?" + strings.Join(selected[:4], "&"))
	if codes := p.visible(".sheet li"); codes != 8 {
		t.Errorf("the printed sheet has %d codes, want 8", codes)
	}
	if rest := p.visible("header, nav, footer, h1, button"); rest != 0 {
		t.Errorf("the printed sheet has %d parts that belong to the screen", rest)
	}
	p.do(emulation.SetEmulatedMedia())
	for _, width := range screenshotWidths() {
		p.do(chromedp.EmulateViewport(width, 800))
		p.width = width
		for name, path := range map[string]string{
			"today": "/coach", "players": "/coach/players", "remind-all": "/coach/players/remind", "qr": "/coach/players/" + id + "/qr?party=guardian",
			"sheet": "/coach/players/sheet?" + strings.Join(selected[:4], "&"), "add": "/coach/players/add", "needs": "/coach/players?show=needs", "one-player": "/coach/players/" + id,
		} {
			p.open(path)
			p.screenshot(name)
		}
	}
}
