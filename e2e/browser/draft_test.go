package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestCoachKeepsInput ends the session elsewhere while a form is open. After the sign-in the
// form has what the coach wrote, and nothing is saved before it is sent again. The forms with
// scripts, a file or another account are open in Chromium, the others in a client without scripts.
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
	b := newPhone(t, s.URL)
	b.signIn(s, "coach", coachNumber)
	const notice = "What you wrote is still here, but it is not saved yet."
	// interrupt fills a form, ends the session, sends the form and signs in again.
	interrupt := func(path, button string, fields ...string) {
		t.Helper()
		b.open(path)
		s.SignIn(t, "coach", coachNumber).Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
		b.press(button, fields...)
		if !strings.HasPrefix(b.path(), "/sign-in/coach") {
			t.Fatalf("%s: a form without a session leads to %s", path, b.path())
		}
		sent := s.Sent(coachNumber, "otp")
		b.press("Send me a code", "number", coachNumber)
		b.press("Continue", "code", s.OTP(coachNumber, sent))
		b.wantText(notice)
		for i := 0; i < len(fields); i += 2 {
			if got := b.value(fields[i]); got != fields[i+1] {
				t.Errorf("%s: the field %s has %.60q after the sign-in, want %.60q", path, fields[i], got, fields[i+1])
			}
		}
	}
	gone := func(path string) {
		t.Helper()
		if b.open(path); strings.Contains(b.words(), notice) {
			t.Errorf("%s shows the draft after it was sent", path)
		}
	}

	bio := strings.Repeat("हर बच्चे के लिए हॉकी, हर शाम मैदान पर। ", 50)[:2000*2]
	bio = strings.ToValidUTF8(bio, "")
	interrupt("/coach/profile", "Save", "name", `Meera "M" <Nair>`, "bio", strings.TrimSpace(bio), "experience_years", "eight", "sports", "hockey", "email", "meera@example.org")
	if name := s.SignIn(t, "coach", coachNumber).Call(t, "GET", "/api/coach/profile", nil).String("name"); name != "Meera Nair" {
		t.Errorf("the draft was saved: %s", name)
	}
	b.press("Save")
	if b.status() != 422 || b.value("name") != `Meera "M" <Nair>` {
		t.Errorf("the draft with a fault got %d and the name %q", b.status(), b.value("name"))
	}
	b.press("Save", "experience_years", "8", "time_zone", "Mars/Base")
	b.wantText("Choose a time zone from the list.")
	b.press("Save", "time_zone", "Asia/Dubai")
	b.wantText("Saved.")
	if zone := s.SignIn(t, "coach", coachNumber).Call(t, "GET", "/api/coach/profile", nil).String("time_zone"); zone != "Asia/Dubai" {
		t.Errorf("the time zone is %s", zone)
	}
	gone("/coach/profile")

	interrupt("/coach/batches/"+batch+"/attendance/2026-03-02", "Save", "m-"+keyOf(player), "p", "n-"+keyOf(player), "Bus <late>")

	// Pasted cells arrive with the file of their form.
	interrupt("/coach/players/import", "Check the list", "text", "Name\tBorn\nPasted Person\t2000-01-02")

	plain := s.Browser(t)
	signIn(t, s, plain, "coach", coachNumber)
	// interruptPlain is interrupt without scripts.
	interruptPlain := func(path, button string, fields ...string) {
		t.Helper()
		plain.Open(path)
		s.SignIn(t, "coach", coachNumber).Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
		plain.Press(button, fields...)
		if !strings.HasPrefix(plain.Page.Path, "/sign-in/coach") {
			t.Fatalf("%s: a form without a session leads to %s", path, plain.Page.Path)
		}
		sent := s.Sent(coachNumber, "otp")
		plain.Press("Send me a code", "number", coachNumber)
		plain.Press("Continue", "code", s.OTP(coachNumber, sent))
		wantText(t, plain, notice)
		for i := 0; i < len(fields); i += 2 {
			if got := plain.Page.Value(fields[i]); got != fields[i+1] {
				t.Errorf("%s: the field %s has %.60q after the sign-in, want %.60q", path, fields[i], got, fields[i+1])
			}
		}
	}
	gonePlain := func(path string) {
		t.Helper()
		if plain.Open(path); strings.Contains(plain.Page.Text(), notice) {
			t.Errorf("%s shows the draft after it was sent", path)
		}
	}
	interruptPlain("/coach/players/add", "Add and ask", "student_name", "Bela Rao", "date_of_birth", "2013-01-02", "medical", strings.Repeat("Asthma. ", 400)+"End",
		"guardian_name", "Ravi Rao", "relationship", "father", "guardian_number", "98123 45690")
	plain.Press("Add and ask")
	wantHeading(t, plain, "Bela Rao")
	gonePlain("/coach/players/add")

	interruptPlain(page+"/edit", "Save", "student_name", "Asha R. Rao", "medical", "None")
	plain.Press("Show what is saved")
	if got := plain.Page.Value("student_name"); got != "Asha Rao" {
		t.Errorf("the stored name is %q", got)
	}
	gonePlain(page + "/edit")
	interruptPlain(page, "Note the call", "note", "Answers <tonight>")
	plain.Press("Note the call")
	wantText(t, plain, "We noted your call.", "Answers <tonight>")
	interruptPlain("/coach/settings/number", "Send both codes", "number", "98123 45699")

	interruptPlain("/coach/batches/add", "Save", "name", "U14", "start1", "17:30")
	interruptPlain(page+"/progress", "Save", "metric", "Sprint", "value", "12.5", "unit", "s")
	interruptPlain("/coach/messages/write", "See how it arrives", "text", "Rain <today>", "audience", "student")

	// A form of another account does not appear.
	b.signIn(s, "coach", coachNumber)
	interrupt("/coach/players/add", "Add and ask", "student_name", "Chand Rao")
	b.tap(`form[action="/sign-out"] button`)
	b.waitForText("1 mark is not sent yet.")
	b.click(`#ask [value=go]`)
	const other = "+919812345693"
	s.Coach(t, other)
	b.signIn(s, "coach", other)
	b.open("/coach/players/add")
	if got := b.value("student_name"); got != "" {
		t.Errorf("another coach sees %q", got)
	}
}
