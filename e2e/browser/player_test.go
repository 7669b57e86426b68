package browser_test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/storetest"
	"github.com/touchline/touchline/internal/touchlinetest"
)

func TestPlayerFormsSentTwiceActOnce(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, c := newFormClient(t, s, coachNumber)
		add := []string{
			"student_name", "Asha Rao", "date_of_birth", "2014-04-30", "student_number", "98123 45679",
			"guardian_name", "Ravi Rao", "relationship", "father", "guardian_number", "98123 45680",
		}
		first := c.post("/coach/players/add", add...).want(200, "The player was added")
		if second := c.post("/coach/players/add", add...).want(200, "The player was added"); first.path != second.path {
			t.Errorf("got the player %s, then %s", first.path, second.path)
		}
		id := coach.Call(t, "GET", "/api/players", nil).Items()[0]["player_id"].(string)
		path := "/coach/players/" + id

		for range 2 {
			c.post(path+"/remind", "party", "guardian", "last", "0").want(200, "We sent the question again.", "1 reminder is left", "Reminder")
		}
		request := coach.Call(t, "GET", "/api/players/"+id, nil).String("student_request_id")
		for range 2 {
			c.post(path+"/cancel", "party", "student", "request", request).want(200, "You took the question back.")
		}
		for range 2 {
			c.post(path+"/ask", "party", "student", "last", "0").want(200, "The question is on its way.", "You asked the student", "was taken back")
		}
		c.post(path+"/ask", "party", "student", "last", "99999999999999999").want(422, "The question is open already.")
		for range 2 {
			c.post(path+"/call", "party", "guardian", "request", coach.Call(t, "GET", "/api/players/"+id, nil).String("guardian_request_id"), "note", "Answers <tonight>").
				want(200, "We noted your call.", "Answers <tonight>")
		}
		for range 2 {
			if removed := c.post(path + "/remove"); removed.path != "/coach/players?done=removed" {
				t.Errorf("removing led to %s", removed.path)
			}
		}
		c.get(path).want(404)
	})
}

func TestEditPlayerSaysWhatItMeans(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, c := newFormClient(t, s, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "approved"}).Want(t, 200)
		path := "/coach/players/" + id
		form := func(changes ...string) []string {
			fields := map[string]string{
				"student_name": "Asha Rao", "date_of_birth": "2014-04-30", "student_number": "+91 98123 45679", "medical": "Asthma: carries an inhaler.",
				"guardian_name": "Ravi Rao", "relationship": "father", "guardian_number": "+91 98123 45680",
			}
			for i := 0; i < len(changes); i += 2 {
				fields[changes[i]] = changes[i+1]
			}
			var pairs []string
			for name, value := range fields {
				pairs = append(pairs, name, value)
			}
			return pairs
		}
		c.get(path+"/edit").want(200, "Asthma: carries an inhaler.", "+91 98123 45680")
		c.post(path+"/edit", form("medical", "None.", "guardian_language", "hi")...).want(200, "Saved.", "None.", "The guardian said yes")
		name := form("student_name", "Asha Raju", "medical", "Line 1\r\nLine 2")
		c.post(path+"/edit", name...).want(200, "The guardian said yes before. That yes ends now.", "The student gets a new question by SMS.")
		if status := coach.Call(t, "GET", "/api/players/"+id, nil).String("guardian_status"); status != "approved" {
			t.Fatalf("the check page changed the status to %s", status)
		}
		c.post(path+"/edit", append(name, "back", "yes")...).want(200, `value="Asha Raju"`)
		for range 2 {
			c.post(path+"/edit", append(name, "checked", "yes")...).want(200, "Saved.", "Asha Raju", "Line 1\nLine 2")
		}
		if status := coach.Call(t, "GET", "/api/players/"+id, nil).String("guardian_status"); status != "pending" {
			t.Errorf("got the status %s after the change, want pending", status)
		}
		c.post(path+"/edit", form("student_name", "", "guardian_number", "12")...).want(422, "Fill this in.", "This is not a mobile number.", `value="12"`)
		c.post(path+"/edit", form("guardian_name", "", "relationship", "", "guardian_number", "")...).want(422)
	})
}

// TestPlayerPages takes the screenshots of the pages about one player.
func TestPlayerPages(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	s.SMS(studentNumber, "message", 0)
	s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "approved", "reason": "She loves it."}).Want(t, 200)
	s.Clock.Advance(50 * time.Hour)
	p := newPhone(t, s.URL)
	p.open("/sign-in/coach?next=/coach/players/" + id)
	p.fill("number", "98123 45678")
	p.press("Send me a code")
	p.enterCode(s, coachNumber, 1)
	if got := p.heading(); got != "Asha Rao" {
		t.Fatalf("got the page %q", got)
	}
	p.press("Remind")
	p.waitForText("1 reminder is left this week.")
	for _, width := range screenshotWidths() {
		p.do(chromedp.EmulateViewport(width, 800))
		p.width = width
		p.open("/coach/players/" + id)
		p.screenshot("player")
		p.open("/coach/players/" + id + "/edit")
		p.screenshot("player-edit")
		p.fill("student_name", "x")
		p.press("Save")
		p.screenshot("player-edit-check")
		p.open("/coach/players/" + id + "/remove")
		p.screenshot("player-remove")
	}
}
