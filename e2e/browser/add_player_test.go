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
