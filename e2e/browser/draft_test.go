package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/storetest"
	"github.com/touchline/touchline/internal/touchlinetest"
)

// TestCoachKeepsInput ends the session elsewhere while a form is open. After the sign-in the
// form has what the coach wrote, and nothing is saved before it is sent again.
func TestCoachKeepsInput(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), withTiers(t, importTiers), func(c *config.Config) { c.OTPSendsPerHour, c.OTPSendsPerDay, c.OTPResendAfter = 0, 0, 0 })
	user := s.Coach(t, coachNumber)
	user.Call(t, "PUT", "/api/coach/subscription", map[string]any{"tier": "big"}).Want(t, 200)
	player := user.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
	batch := user.Call(t, "POST", "/api/batches", map[string]any{"name": "U12"}).Want(t, 201).String("batch_id")
	user.Call(t, "PUT", "/api/batches/"+batch+"/players/"+player, nil).Want(t, 204)
	page := "/coach/players/" + player
	s.Clock.Skip(49 * time.Hour)
	b := s.Browser(t)
	signIn(t, s, b, "coach", coachNumber)
	const notice = "What you wrote is still here, but it is not saved yet."
	// interrupt fills a form, ends the session, sends the form and signs in again.
	interrupt := func(path, button string, fields ...string) {
		t.Helper()
		b.Open(path)
		s.SignIn(t, "coach", coachNumber).Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
		b.Press(button, fields...)
		if !strings.HasPrefix(b.Page.Path, "/sign-in/coach") {
			t.Fatalf("%s: a form without a session leads to %s", path, b.Page.Path)
		}
		sent := s.Sent(coachNumber, "otp")
		b.Press("Send me a code", "number", coachNumber)
		b.Press("Continue", "code", s.OTP(coachNumber, sent))
		wantText(t, b, notice)
		for i := 0; i < len(fields); i += 2 {
			if got := b.Page.Value(fields[i]); got != fields[i+1] {
				t.Errorf("%s: the field %s has %.60q after the sign-in, want %.60q", path, fields[i], got, fields[i+1])
			}
		}
	}
	gone := func(path string) {
		t.Helper()
		if b.Open(path); strings.Contains(b.Page.Text(), notice) {
			t.Errorf("%s shows the draft after it was sent", path)
		}
	}

	bio := strings.Repeat("हर बच्चे के लिए हॉकी, हर शाम मैदान पर। ", 50)[:2000*2]
	bio = strings.ToValidUTF8(bio, "")
	interrupt("/coach/profile", "Save", "name", `Meera "M" <Nair>`, "bio", strings.TrimSpace(bio), "experience_years", "eight", "sports", "hockey", "email", "meera@example.org")
	if name := s.SignIn(t, "coach", coachNumber).Call(t, "GET", "/api/coach/profile", nil).String("name"); name != "Meera Nair" {
		t.Errorf("the draft was saved: %s", name)
	}
	b.Press("Save")
	if b.Page.Status != 422 || b.Page.Value("name") != `Meera "M" <Nair>` {
		t.Errorf("the draft with a fault got %d and the name %q", b.Page.Status, b.Page.Value("name"))
	}
	b.Press("Save", "experience_years", "8", "time_zone", "Mars/Base")
	wantText(t, b, "Choose a time zone from the list.")
	b.Press("Save", "time_zone", "Asia/Dubai")
	wantText(t, b, "Saved.")
	if zone := s.SignIn(t, "coach", coachNumber).Call(t, "GET", "/api/coach/profile", nil).String("time_zone"); zone != "Asia/Dubai" {
		t.Errorf("the time zone is %s", zone)
	}
	gone("/coach/profile")

	interrupt("/coach/players/add", "Add and ask", "student_name", "Bela Rao", "date_of_birth", "2013-01-02", "medical", strings.Repeat("Asthma. ", 400)+"End",
		"guardian_name", "Ravi Rao", "relationship", "father", "guardian_number", "98123 45690")
	b.Press("Add and ask")
	wantHeading(t, b, "Bela Rao")
	gone("/coach/players/add")

	interrupt(page+"/edit", "Save", "student_name", "Asha R. Rao", "medical", "None")
	b.Press("Show what is saved")
	if got := b.Page.Value("student_name"); got != "Asha Rao" {
		t.Errorf("the stored name is %q", got)
	}
	gone(page + "/edit")
	interrupt(page, "Note the call", "note", "Answers <tonight>")
	b.Press("Note the call")
	wantText(t, b, "We noted your call.", "Answers <tonight>")
	interrupt("/coach/settings/number", "Send both codes", "number", "98123 45699")

	interrupt("/coach/batches/add", "Save", "name", "U14", "start1", "17:30")
	interrupt("/coach/batches/"+batch+"/attendance/2026-03-02", "Save", "m-"+keyOf(player), "p", "n-"+keyOf(player), "Bus <late>")

	interrupt(page+"/progress", "Save", "metric", "Sprint", "value", "12.5", "unit", "s")
	interrupt("/coach/messages/write", "See how it arrives", "text", "Rain <today>", "audience", "student")

	// Pasted cells arrive with the file of their form.
	c := newVisitor(t, s.URL)
	c.signIn(s, "coach", coachNumber)
	s.SignIn(t, "coach", coachNumber).Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
	c.upload("/coach/players/import", nil, "account", user.ID, "text", "Name\tBorn\nPasted Person\t2000-01-02").want(200, "Sign in as a coach")
	c.signIn(s, "coach", coachNumber)
	c.get("/coach/players/import").want(200, notice, "Pasted Person\t2000-01-02</textarea>")

	// A form of another account does not appear.
	signIn(t, s, b, "coach", coachNumber)
	interrupt("/coach/players/add", "Add and ask", "student_name", "Chand Rao")
	b.Press("Sign out")
	const other = "+919812345693"
	s.Coach(t, other)
	signIn(t, s, b, "coach", other)
	b.Open("/coach/players/add")
	if got := b.Page.Value("student_name"); got != "" {
		t.Errorf("another coach sees %q", got)
	}
}
