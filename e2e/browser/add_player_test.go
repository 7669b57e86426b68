package browser_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestLanguagesOfNewPlayer chooses the languages of a new player's family in the form, so that the
// first message is in the guardian's language.
func TestLanguagesOfNewPlayer(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber)
	p.open("/coach/players/add")
	p.press("Add and ask",
		"student_name", "Asha Rao", "date_of_birth", "2014-04-30", "student_number", "98123 45679", "student_language", "xx",
		"guardian_name", "Ravi Rao", "relationship", "father", "guardian_number", "98123 45680", "guardian_language", "hi")
	p.wantFault("student_language", "Choose")
	if got := p.value("guardian_language"); got != "hi" {
		t.Errorf("after a fault the guardian's language is %q, want hi", got)
	}
	p.checkLayout("/coach/players/add")
	p.screenshot("add-player-languages")
	p.press("Add and ask", "student_language", "en")
	player := coach.Call(t, "GET", "/api/players", nil).Items()[0]["player_id"].(string)
	got := coach.Call(t, "GET", "/api/players/"+player, nil)
	if got.String("guardian.language") != "hi" || got.String("student.language") != "en" {
		t.Errorf("got %s, want hi for the guardian and en for the student", got.Body)
	}
	if text := s.SMS(guardianNumber, "message", 0).Text; !strings.ContainsFunc(text, func(r rune) bool { return r >= 'ऀ' && r <= 'ॿ' }) {
		t.Errorf("the guardian's SMS is not in Hindi: %s", text)
	}
	// A language alone does not make a guardian.
	p.open("/coach/players/add")
	p.press("Add and ask", "student_name", "Bela Das", "date_of_birth", "1990-01-01", "student_number", "98123 45681", "guardian_language", "hi")
	p.wantHeading("Bela Das")
}

// TestSiblingInFourFields adds a child and then a second one of the same guardian, at 360 px: three taps and at most four fields. The
// batch and the language are those of the first. An empty form names what guardian and student lack at once.
func TestSiblingInFourFields(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12"}).Want(t, 201).String("batch_id")
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber)
	p.open("/coach/players/add")
	p.press("Add and ask")
	p.wantFault("guardian_number", "Fill this in")
	p.wantFault("date_of_birth", "Fill this in")
	p.open("/coach/players/add")
	var bottom float64
	p.script(`Math.max(...[...document.querySelectorAll('[name=student_name],[name=date_of_birth],[name=guardian_name],[name=guardian_number],.save-bar button')].map((e) => e.getBoundingClientRect().bottom))`, &bottom)
	if bottom > 740-57 {
		t.Errorf("the form ends at %.0f px, not in the first view", bottom)
	}
	p.press("Add and next", "student_name", "Asha Rao", "date_of_birth", "2014-04-30", "guardian_name", "Ravi Rao", "guardian_number", "98123 45680", "guardian_language", "hi", "batch", batch)
	first := coach.Call(t, "GET", "/api/players", nil).Items()[0]["player_id"].(string)
	p.wantText("Asha Rao is added.")
	p.press("Add a brother or sister of Asha Rao") // 1
	if shown := p.count(`[name=guardian_number]:not(.new-guardian *)`); shown != 0 {
		t.Error("the guardian's fields are outside of what the family hides")
	}
	var hidden bool
	p.script(`!document.querySelector('[name=guardian_number]').checkVisibility()`, &hidden)
	if !hidden {
		t.Error("the guardian of the first child is asked for again")
	}
	p.checkLayout("/coach/players/add")
	p.press("Add and ask", "student_name", "Rohan Rao", "date_of_birth", "2016-02-01") // 2
	players := coach.Call(t, "GET", "/api/players", nil).Items()
	if len(players) != 2 {
		t.Fatalf("%d players", len(players))
	}
	for _, item := range players {
		got := coach.Call(t, "GET", "/api/players/"+item["player_id"].(string), nil)
		if !strings.Contains(string(got.Body), batch) {
			t.Errorf("%s is not in the batch of the first: %s", item["student_name"], got.Body)
		}
		if got.String("guardian.mobile_number") != guardianNumber || got.String("guardian.relationship") != "guardian" || got.String("guardian.language") != "hi" {
			t.Errorf("got %s, want the guardian of the first child", got.Body)
		}
	}
	// From the roster: the family is chosen in the form, and another coach's player is none.
	_, other := newFormClient(t, s, "+919812345699")
	other.post("/coach/players/add", "student_name", "Zoya Khan", "date_of_birth", "2014-04-30", "family", first).want(404)
	p.open("/coach/players")
	p.press("Add a player")                                                                            // 1
	p.press("Add and ask", "student_name", "Diya Rao", "date_of_birth", "2017-02-01", "family", first) // 2
	p.wantHeading("Diya Rao")
}
