package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

func TestPlayerFormsSentTwiceActOnce(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
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
			c.post(path+"/remind", "party", "guardian", "last", "0").want(200, "The reminder is on its way.", "1 reminder is left", "Reminder")
		}
		c.post(path+"/cancel", "party", "guardian", "request", "\x00\xff").want(422)
		request := coach.Call(t, "GET", "/api/players/"+id, nil).String("student_request_id")
		for range 2 {
			c.post(path+"/cancel", "party", "student", "request", request).want(200, "You took the question back.")
		}
		for range 2 {
			c.post(path+"/ask", "party", "student", "response", "pending", "request", request, "last", "99999999999999999").want(200, "The question is on its way.", "You asked the student", "was taken back")
		}
		request = coach.Call(t, "GET", "/api/players/"+id, nil).String("student_request_id")
		c.post(path+"/ask", "party", "student", "response", "pending", "request", request, "last", "99999999999999999").want(422, "The question is open already.")
		for range 2 {
			c.post(path+"/call", "party", "guardian", "request", coach.Call(t, "GET", "/api/players/"+id, nil).String("guardian_request_id"), "note", "Answers <tonight>").
				want(200, "We noted your call.")
			c.get(path+"?tab=history").want(200, "Answers <tonight>")
		}
		for range 2 {
			if removed := c.post(path + "/remove"); removed.path != "/coach/players?done=removed" {
				t.Errorf("removing led to %s", removed.path)
			}
		}
		c.get(path).want(404)
	})
}

// TestOldFormDoesNotAskAgain sends forms of the coach's page that are older than a refusal or a
// correction: they must not ask again, or write the old number back.
func TestOldFormDoesNotAskAgain(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		path := "/coach/players/" + id
		s.Clock.Skip(2 * time.Minute) // past OTP_RESEND_AFTER
		phone, other := s.Browser(t), s.Browser(t)
		for _, b := range []*touchlinetest.Browser{phone, other} {
			b.Open("/sign-in/coach")
			sent := s.Sent(coachNumber, "otp")
			b.Press("Send me a code", "number", coachNumber)
			b.Press("Continue", "code", s.OTP(coachNumber, sent))
			s.Clock.Skip(2 * time.Minute)
			b.Open(path)
		}
		guardian := s.SignIn(t, "guardian", guardianNumber)
		refuse := func() {
			t.Helper()
			guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "rejected"}).Want(t, 200)
		}
		state := func(when, want string) {
			t.Helper()
			if got := coach.Call(t, "GET", "/api/players/"+id, nil).String("guardian_status"); got != want {
				t.Errorf("%s: the guardian's status is %s, want %s", when, got, want)
			}
		}
		old := func(b *touchlinetest.Browser, number string) {
			t.Helper()
			if p := b.Press("Send the question", "number", number); p.Status != 422 || !strings.Contains(p.Text(), "answered or sent meanwhile") {
				t.Errorf("an old form got %d: %s", p.Status, p.Text())
			}
		}
		refuse()
		old(phone, "")
		state("a form drawn before the refusal", "rejected")

		phone.Open(path)
		drawn := *phone.Page
		phone.Press("Send the question")
		state("a new form", "pending")
		refuse()
		phone.Page = &drawn
		old(phone, "")
		state("the same form after the second refusal", "rejected")

		const corrected = "+919812345699"
		coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": id, "guardian": map[string]any{"mobile_number": corrected}}).Want(t, 201)
		old(other, guardianNumber)
		if got := coach.Call(t, "GET", "/api/players/"+id, nil).String("guardian.mobile_number"); got != corrected {
			t.Errorf("an old form changed the number to %s", got)
		}
	})
}

// TestEditPlayerSaysWhatItMeans changes a player after a check page that says which answers end,
// and corrects a number and asks again in one step.
func TestEditPlayerSaysWhatItMeans(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "approved"}).Want(t, 200)
	path := "/coach/players/" + id
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber)
	p.get(path+"/edit").want(200, "Asthma: carries an inhaler.")
	if got := p.value("guardian_number"); got != "+91 98123 45680" {
		t.Errorf("the field has the number %q", got)
	}
	p.press("Save", "medical", "None.", "guardian_language", "hi")
	p.answered().want(200, "Saved.")
	p.press("Medical notes: show")
	p.answered().want(200, "None.", "The family sees when you read this.")
	p.get(path).want(200, "The guardian said yes")
	p.open(path + "/edit")
	p.press("Save", "student_name", "Asha Raju", "medical", "Line 1\nLine 2")
	p.answered().want(200, "The guardian said yes before. That yes ends now.", "We ask the student again.")
	p.screenshot("player-edit-check")
	if status := coach.Call(t, "GET", "/api/players/"+id, nil).String("guardian_status"); status != "approved" {
		t.Fatalf("the check page changed the status to %s", status)
	}
	p.press("Change something")
	if got := p.value("student_name"); p.status() != 200 || got != "Asha Raju" {
		t.Errorf("back to the form got %d, and the name is %q", p.status(), got)
	}
	p.press("Save")
	check := p.keep()
	for range 2 {
		p.restore(check)
		p.press("Save and ask")
		p.answered().want(200, "Saved.", "Asha Raju")
	}
	p.press("Medical notes: show")
	p.answered().want(200, "Line 1\nLine 2")
	if status := coach.Call(t, "GET", "/api/players/"+id, nil).String("guardian_status"); status != "pending" {
		t.Errorf("got the status %s after the change, want pending", status)
	}
	p.open(path + "/edit")
	p.press("Save", "student_name", "", "guardian_number", "12")
	p.answered().want(422, "Full name – Fill this in.", "Guardian’s mobile number – This is not a mobile number.")
	if got := p.value("guardian_number"); got != "12" {
		t.Errorf("after a fault the number is %q", got)
	}
	p.open(path + "/edit")
	p.press("Save", "guardian_name", "", "relationship", "", "guardian_number", "")
	p.answered().want(422)

	// Correct and ask again in one step, after a fault. The first form is the guardian's.
	const corrected = "+919812345699"
	p.open(path)
	p.press("Send the question", "number", "12")
	p.answered().want(422, "This is not a mobile number.")
	if got := p.value("number"); got != "12" {
		t.Errorf("after a fault the field has %q", got)
	}
	p.press("Send the question", "number", "98123 45699")
	p.answered().want(200, "The question is on its way.")
	if link := linkTo(t, s, corrected, 0); link == "" {
		t.Error("the corrected number has no link")
	}
	if got := coach.Call(t, "GET", "/api/players/"+id, nil).String("guardian.mobile_number"); got != corrected {
		t.Errorf("the guardian has the number %s", got)
	}
	p.screenshot("player-corrected")
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
	p.waitForText("The reminder is on its way.")
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

// TestEditPlayerOnTwoPhones saves a form that was drawn before another phone changed the player.
// Only the fields that differ from what the form showed are saved.
func TestEditPlayerOnTwoPhones(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber)
	p.open("/coach/players/" + id + "/edit")
	const corrected = "+919812345699"
	coach.Call(t, "PATCH", "/api/players/"+id, map[string]any{
		"student": map[string]any{"medical_information": "Carries two inhalers."}, "guardian": map[string]any{"mobile_number": corrected},
	}).Want(t, 200)
	p.press("Save", "student_name", "Asha Raju")
	p.answered().want(200, "This changes what the family agreed to")
	p.press("Change something")
	p.press("Save", "relationship", "aunt")
	p.press("Save and ask")
	p.answered().want(200, "Saved.")
	if got := coach.Call(t, "GET", "/api/players/"+id+"/medical", nil).String("medical_information"); got != "Carries two inhalers." {
		t.Errorf("medical_information is %q", got)
	}
	got := coach.Call(t, "GET", "/api/players/"+id, nil)
	for path, want := range map[string]string{
		"guardian.mobile_number": corrected, "student.full_name": "Asha Raju", "guardian.relationship": "aunt",
	} {
		if got.String(path) != want {
			t.Errorf("%s is %q, want %q", path, got.String(path), want)
		}
	}
}
