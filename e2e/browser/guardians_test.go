package browser_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

const (
	raviNumber   = guardianNumber
	anitaNumber  = "+919812345692"
	chitraNumber = "+919812345693"
)

// addWithTwo are the fields of the form of a new player with two guardians.
var addWithTwo = []string{
	"student_name", "Asha Rao", "date_of_birth", "2014-04-30", "student_number", studentNumber,
	"guardian_name", "Ravi Rao", "relationship", "father", "guardian_number", raviNumber,
	"guardian_name_2", "Anita Iyer", "relationship_2", "mother", "guardian_number_2", anitaNumber, "guardian_email_2", "anita@example.com",
}

// guardianIDs returns the ids of the guardians of a player by first name.
func guardianIDs(t *testing.T, coach *touchlinetest.User, player string) map[string]string {
	t.Helper()
	ids := map[string]string{}
	for _, g := range coach.Call(t, "GET", "/api/players/"+player, nil).Want(t, 200).JSON["guardians"].([]any) {
		name, _, _ := strings.Cut(g.(map[string]any)["name"].(string), " ")
		ids[name] = g.(map[string]any)["guardian_id"].(string)
	}
	return ids
}

// addOnPage adds the player of addWithTwo and returns its id.
func addOnPage(b *touchlinetest.Browser, more ...string) string {
	b.Open("/coach/players/add")
	b.Press("Add and ask", append(append([]string{"guardian_rule", "any"}, addWithTwo...), more...)...)
	path, _, _ := strings.Cut(b.Page.Path, "?")
	return strings.TrimPrefix(path, "/coach/players/")
}

// TestGuardiansOnPages: the coach adds a player with two guardians, and adds, edits, orders and removes guardians, all without scripts.
// Each form that is sent twice acts once.
func TestGuardiansOnPages(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, b := s.Coach(t, coachNumber), s.Browser(t)
		s.Clock.Skip(2 * time.Minute)
		signIn(t, s, b, "coach", coachNumber)

		b.Open("/coach/players/add")
		b.Press("Add and ask", append(addWithTwo, "guardian_number_2", raviNumber, "guardian_rule", "all")...)
		if wantText(t, b, "Another guardian of this student has this number."); b.Page.Status != 422 || b.Page.Value("guardian_name_2") != "Anita Iyer" || !strings.Contains(b.Page.Body, "<details open>") {
			t.Errorf("the same number twice: %d, %s", b.Page.Status, b.Page.Text())
		}
		b.Press("Add and ask", append(addWithTwo, "relationship_2", "")...)
		if !strings.Contains(b.Page.Body, `id="relationship_2-fault"`) {
			t.Errorf("without a relationship: %s", b.Page.Text())
		}
		player := addOnPage(b, "guardian_rule", "all")
		path := "/coach/players/" + player
		wantText(t, b, "The player was added.", "Guardian 1", "Ravi Rao (father)", "Guardian 2", "Anita Iyer (mother)")
		if got := coach.Call(t, "GET", "/api/players/"+player, nil).Want(t, 200); got.String("guardian_rule") != "all" || got.String("guardian_approval") != "waiting" {
			t.Errorf("added: %s", got.Body)
		}
		ids := guardianIDs(t, coach, player)
		second := s.SMS(anitaNumber, "message", 0)
		if s.SMS(raviNumber, "message", 0).Text == "" || second.Text == "" {
			t.Error("not both were asked")
		}

		// Each guardian is answered, reminded and corrected alone.
		ravi, anita := s.SignIn(t, "guardian", raviNumber), s.SignIn(t, "guardian", anitaNumber)
		answer := func(by *touchlinetest.User, action string) {
			t.Helper()
			s.Clock.Skip(time.Second)
			by.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": action, "reason": "because"}).Want(t, 200)
		}
		answer(ravi, "approved")
		answer(anita, "rejected")
		b.Open("/coach")
		wantText(t, b, "Guardian Anita Iyer")
		b.Open("/coach/players")
		wantText(t, b, "Ravi yes", "Anita no")
		b.Open(path)
		wantText(t, b, "Ravi said yes, Anita said no: talk to both.", "“because”")
		if b.Page.Value("party") != ids["Anita"] {
			t.Errorf("the form asks %q, want Anita", b.Page.Value("party"))
		}
		b.Press("Send the question")
		wantText(t, b, "The question is on its way.")
		b.Open(path + "?tab=history")
		wantText(t, b, "The guardian said no Anita", "The guardian said yes Ravi")

		// A third one, with the form sent twice.
		third := []string{"guardian_name", "Chitra Rao", "relationship", "aunt", "guardian_number", chitraNumber}
		b.Open(path + "?tab=details")
		b.Press("Add another guardian")
		form := *b.Page
		b.Press("Add and ask", "guardian_name", "Chitra Rao")
		if b.Page.Status != 422 || !strings.Contains(b.Page.Body, `id="guardian_number-fault"`) {
			t.Errorf("without a number: %d %s", b.Page.Status, b.Page.Text())
		}
		for range 2 {
			b.Page = &form
			b.Press("Add and ask", third...)
			wantText(t, b, "The guardian was added.", "Guardian 3")
		}
		ids = guardianIDs(t, coach, player)
		if len(ids) != 3 {
			t.Errorf("guardians: %v", ids)
		}
		b.Page = &form
		b.Press("Add and ask", "guardian_name", "Dev", "relationship", "uncle", "guardian_number", chitraNumber)
		wantText(t, b, "Another guardian of this student has this number.")

		// Edit: another relationship at once, another number after a check.
		b.Open(path + "?tab=details")
		b.Press("Edit Ravi")
		wantHeading(t, b, "Edit Ravi Rao")
		b.Press("Save", "relationship", "uncle")
		wantText(t, b, "Saved.", "Ravi Rao (uncle)")
		b.Press("Edit Ravi")
		b.Press("Save", "guardian_number", anitaNumber)
		wantText(t, b, "Another guardian of this student has this number.")
		b.Press("Save", "guardian_number", "+919812345694")
		wantText(t, b, "Ravi said yes before. That yes ends now.", "We ask Ravi again.")
		b.Press("Change something")
		wantHeading(t, b, "Edit Ravi Rao")
		old := *b.Page
		b.Press("Save", "guardian_number", raviNumber)
		wantText(t, b, "Saved.")
		b.Page = &old
		b.Press("Save", "guardian_name", "")
		if b.Page.Status != 422 || len(guardianIDs(t, coach, player)) != 3 {
			t.Errorf("without a name: %d %s", b.Page.Status, b.Page.Text())
		}

		// The form of the player has the student and the rule, and no guardian.
		b.Open(path + "/edit")
		if strings.Contains(b.Page.Body, `name="guardian_name"`) || b.Page.Value("guardian_rule") != "all" {
			t.Errorf("the form of the player: %s", b.Page.Text())
		}
		b.Press("Save", "student_name", "Asha Iyer", "guardian_rule", "any")
		wantText(t, b, "Ravi said yes before. That yes ends now.", "We ask Ravi again.", "We ask Anita again.", "We ask Chitra again.")
		b.Press("Save and ask")
		if got := coach.Call(t, "GET", "/api/players/"+player, nil).Want(t, 200); got.String("guardian_rule") != "any" || got.String("student.full_name") != "Asha Iyer" || len(guardianIDs(t, coach, player)) != 3 {
			t.Errorf("edited: %s", got.Body)
		}

		// First by choice.
		b.Open(path + "/guardians/" + ids["Anita"])
		b.Press("Make Anita the first")
		if got := coach.Call(t, "GET", "/api/players/"+player, nil).Want(t, 200).String("guardian.name"); got != "Anita Iyer" {
			t.Errorf("the first is %s", got)
		}
		answer(ravi, "approved")
		answer(anita, "approved")

		// Removing the first asks who follows, and both learn of it.
		since := s.Clock.Now()
		b.Open(path + "/guardians/" + ids["Anita"])
		b.Press("Remove Anita")
		wantText(t, b, "Who is the first guardian then?", "If they said yes, they read in the app that they are no longer linked.", "The other guardians who said yes read about it in the app.")
		remove := *b.Page
		b.Press("Remove Anita")
		if b.Page.Status != 422 || len(guardianIDs(t, coach, player)) != 3 {
			t.Errorf("without a choice: %d %s", b.Page.Status, b.Page.Text())
		}
		for range 2 {
			b.Page = &remove
			b.Press("Remove Anita", "next", ids["Ravi"])
			wantText(t, b, "The guardian was removed.")
		}
		told := told{Service: s, t: t}
		for kind, want := range map[string][2]int{"player_removed": {1, 0}, "guardian_removed": {1, 0}} {
			if people, sms, _ := told.queued(kind, since); people != want[0] || sms != want[1] {
				t.Errorf("%s: %d people and %d SMS, want %v", kind, people, sms, want)
			}
		}
		if left := guardianIDs(t, coach, player); len(left) != 2 || left["Anita"] != "" {
			t.Errorf("left: %v", left)
		}
		b.Open(path + "?tab=history")
		wantText(t, b, "The guardian said yes A former guardian")
		// A minor keeps one.
		b.Open(path + "/guardians/" + ids["Chitra"] + "/remove")
		b.Press("Remove Chitra")
		b.Open(path + "/guardians/" + ids["Ravi"] + "/remove")
		wantText(t, b, "A student under 18 needs a guardian. Add the new one first.")
		if page := b.Send("POST", path+"/guardians/"+ids["Ravi"]+"/remove", url.Values{"account": {coach.ID}}); page.Status != 422 {
			t.Errorf("the last guardian: %d", page.Status)
		}
		// Of others nothing is there.
		other := s.Browser(t)
		s.Coach(t, "+919812345699")
		s.Clock.Skip(2 * time.Minute)
		signIn(t, s, other, "coach", "+919812345699")
		for _, page := range []string{"/guardians/add", "/guardians/" + ids["Ravi"], "/guardians/" + ids["Ravi"] + "/remove"} {
			if other.Open(path + page); other.Page.Status != 404 {
				t.Errorf("%s of another coach: %d", page, other.Page.Status)
			}
		}
	}, func(c *config.Config) { c.RequireGuardianForMinors = true })
}

// TestOldFormsOfGuardians: a form of the player that is older than another first guardian changes the guardian that it showed.
func TestOldFormsOfGuardians(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach, b := s.Coach(t, coachNumber), s.Browser(t)
	player := coach.AddPlayer(t, touchlinetest.Minor(raviNumber, "")).String("player_id")
	s.Clock.Skip(2 * time.Minute)
	signIn(t, s, b, "coach", coachNumber)
	b.Open("/coach/players/" + player + "/edit")
	old := *b.Page
	first := coach.Call(t, "GET", "/api/players/"+player, nil).Want(t, 200).JSON["guardians"].([]any)[0].(map[string]any)["guardian_id"].(string)
	second := coach.Call(t, "POST", "/api/players/"+player+"/guardians", map[string]any{"name": "Anita Iyer", "relationship": "mother", "mobile_number": anitaNumber}).Want(t, 201).String("guardian_id")
	coach.Call(t, "PATCH", "/api/players/"+player+"/guardians/"+second, map[string]any{"position": 1}).Want(t, 200)
	b.Press("Save", "relationship", "uncle")
	wantText(t, b, "Saved.", "Anita Iyer (mother)", "(uncle)")
	coach.Call(t, "DELETE", "/api/players/"+player+"/guardians/"+first, nil).Want(t, 204)
	b.Page = &old
	b.Press("Save", "relationship", "aunt")
	wantText(t, b, "The page shows how things are now.")
	if got := coach.Call(t, "GET", "/api/players/"+player, nil).Want(t, 200).String("guardian.relationship"); got != "mother" {
		t.Errorf("an old form changed the other guardian: %s", got)
	}
}

// TestTwoGuardiansOnPhones walks at 360 px from the form of the coach with two guardians to both phones, different answers, the
// conflict, and its end.
func TestTwoGuardiansOnPhones(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.RequireGuardianForMinors = true })
	api := s.Coach(t, coachNumber)
	s.Clock.Skip(2 * time.Minute)
	coach := newPhone(t, s.URL)
	coach.signIn(s, "coach", coachNumber)
	coach.open("/coach/players/add")
	coach.screenshot("guardians-add-closed")
	coach.tap("main form details > summary")
	coach.tap("main form details details > summary")
	coach.set(addWithTwo...)
	coach.set("guardian_rule", "any")
	coach.checkLayout("/coach/players/add")
	coach.screenshot("guardians-add")
	coach.press("Add and ask")
	coach.wantText("Ravi Rao (father)", "Anita Iyer (mother)")
	student := s.SignIn(t, "student", studentNumber)
	coach.checkLayout("/coach/players/one")
	coach.screenshot("guardians-asked")
	path, _, _ := strings.Cut(coach.path(), "?")
	player := strings.TrimPrefix(path, "/coach/players/")
	student.Call(t, "PUT", "/api/approval/student-response", map[string]any{"player_id": player, "action": "approved"}).Want(t, 200)
	wantStudentApp := func(want string) {
		t.Helper()
		if apps := api.Call(t, "GET", "/api/services/availability/"+player, nil).Want(t, 200); apps.String("student_app_enabled") != want {
			t.Errorf("the student's app is not %s: %s", want, apps.Body)
		}
	}

	answer := func(name, number, says, check string) *phone {
		t.Helper()
		p := newPhone(t, s.URL)
		p.open(linkTo(t, s, number, 0))
		p.screenshot("guardians-question-" + name)
		sent := s.Sent(number, "otp")
		p.press("Answer")
		p.enterCode(s, number, sent)
		p.press(says)
		p.press(check)
		p.screenshot("guardians-done-" + name)
		return p
	}
	ravi := answer("ravi", raviNumber, "Yes, for Asha Rao", "Say yes")
	coach.waitForText("Said yes")
	wantStudentApp("true")
	anita := answer("anita", anitaNumber, "No, not for Asha Rao", "Say no")
	coach.waitForText("Ravi said yes, Anita said no: talk to both.")
	coach.checkLayout(path)
	coach.screenshot("guardians-conflict")
	coach.open("/coach")
	coach.wantText("Anita Iyer")
	coach.screenshot("guardians-today")
	coach.open("/coach/players")
	coach.wantText("Ravi yes", "Anita no")
	coach.screenshot("guardians-roster")

	// Each sees that there is another one, and nothing that the other one said.
	ravi.open("/me/guardian/players/" + player)
	ravi.wantText("Anita (mother) is a guardian here, too.")
	ravi.screenshot("guardians-page-ravi")
	anita.open("/me/guardian/players/" + player)
	anita.screenshot("guardians-page-anita")
	for phone, words := range map[*phone]*regexp.Regexp{
		ravi: regexp.MustCompile(`Iyer|45692|anita@|said no`), anita: regexp.MustCompile(`Ravi Rao|45680|said yes`),
	} {
		if found := words.FindString(phone.words()); found != "" {
			t.Errorf("a guardian reads %q of the other one:\n%s", found, phone.words())
		}
	}
	wantStudentApp("false")

	// The coach talks to both and asks Anita again, who says yes.
	coach.open(path)
	coach.press("Send the question")
	coach.wantText("The question is on its way.")
	anita.open("/me/guardian")
	anita.press("Answer for Asha Rao")
	anita.press("Yes, for Asha Rao")
	anita.press("Say yes")
	coach.open(path)
	if text := coach.words(); strings.Contains(text, "talk to both") || strings.Count(text, "Said yes") != 3 {
		t.Errorf("after the end of the conflict: %s", text)
	}
	wantStudentApp("true")
	coach.screenshot("guardians-agree")
	anita.open("/me/guardian/players/" + player)
	anita.wantText("Ravi (father) is a guardian here, too.")

	coach.open(path + "?tab=details")
	coach.checkLayout(path + "?tab=details")
	coach.screenshot("guardians-details")
	coach.press("Edit Anita")
	coach.checkLayout(coach.path())
	coach.screenshot("guardians-edit")
	coach.open(path + "?tab=details")
	coach.press("Edit Ravi")
	coach.press("Remove Ravi")
	coach.checkLayout(coach.path())
	coach.screenshot("guardians-remove")
}
