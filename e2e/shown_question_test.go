package e2e_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestRenameBeforeYes: the coach changes the name between the question and the yes. On the page, and by the API, the yes does
// not count; the page shows the question again with what has changed. The receipt of the yes that follows has the name that
// was shown, whatever the coach is called since. The party is told of a later change.
func TestRenameBeforeYes(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		rename := func(name string) { t.Helper(); renameCoach(t, s, coach, name) }
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		status := func() *touchlinetest.Response {
			t.Helper()
			return guardian.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200)
		}
		request := status().JSON["guardian_request"].(object)
		if request["version"] != float64(1) {
			t.Errorf("request %v", request)
		}

		link := linkPattern.FindString(s.SMS(guardianNumber, "message", 0).Text)
		stranger := s.Browser(t) // opens the link without a sign-in
		stranger.Open(link)
		b := signInPages(t, s, "guardian", guardianNumber)
		b.Open("/me/guardian/players/" + id + "/answer")
		rename("Delhi Public School") // before the first button
		if page := stranger.Press("Answer"); page.Status != 409 || !strings.Contains(page.Body, "Meera Nair is now called Delhi Public School.") {
			t.Errorf("the button of the link: %d %s", page.Status, page.Body)
		}
		if page := b.Press("Yes, for Asha Rao"); page.Status != 409 || !strings.Contains(page.Body, "Meera Nair is now called Delhi Public School.") {
			t.Fatalf("the first button: %d %s", page.Status, page.Body)
		}
		b.Press("Yes, for Asha Rao")
		rename("Quick Loans") // before the second
		if page := b.Press("Say yes"); page.Status != 409 || !strings.Contains(page.Body, "Delhi Public School is now called Quick Loans.") {
			t.Fatalf("the second button: %d %s", page.Status, page.Body)
		}
		for _, version := range []any{nil, 1, 2, 4} {
			body := object{"player_id": id, "action": "approved", "request_id": request["request_id"]}
			if version != nil {
				body["version"] = version
			}
			refused := guardian.Call(t, "PUT", "/api/approval/guardian-response", body).Want(t, 409, "request_superseded")
			if refused.JSON["version"] != float64(3) || refused.JSON["request_id"] != request["request_id"] {
				t.Errorf("version %v: %s", version, refused.Body)
			}
		}
		if got := status().String("guardian_status"); got != "pending" {
			t.Fatalf("after answers to former names: %s", got)
		}
		b.Press("Yes, for Asha Rao")
		b.Press("Say yes")
		rename("Meera Nair")

		got := status()
		history := got.JSON["history"].([]any)
		shown, _ := history[len(history)-1].(object)["shown"].(object)
		if got.String("guardian_status") != "approved" || shown["coach_name"] != "Quick Loans" || shown["student_name"] != "Asha Rao" || shown["version"] != float64(3) || shown["language"] != "en" {
			t.Errorf("history %v", history)
		}
		list := guardian.Call(t, "GET", "/api/me/receipts", nil).Want(t, 200).JSON["items"].([]any)
		changed, yes := list[0].(object), list[1].(object)
		if changed["event"] != "coach_changed" || changed["coach_name"] != "Meera Nair" || changed["state"] != "approved" || changed["shown"] != nil || yes["shown"].(object)["coach_name"] != "Quick Loans" {
			t.Errorf("receipts %v", list[:2])
		}
		text := guardian.Call(t, "GET", "/api/me/receipts/"+yes["record_id"].(string), nil).Want(t, 200).Body
		receipt, err := proof.ParseReceipt(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := receipt.Verify(keyOfLog(t, s))
		if err != nil || v.Claims.Shown() == nil || v.Claims.Shown().CoachName != "Quick Loans" || v.Claims["coach_name"] != "Quick Loans" || !strings.Contains(v.Explain(), `The question named the coach "Quick Loans"`) {
			t.Errorf("receipt: %v, %v", v.Claims, err)
		}
		v, err = receipt.Without("student_name").Verify(keyOfLog(t, s))
		if shown := v.Claims.Shown(); err != nil || shown == nil || shown.CoachName != "Quick Loans" || shown.StudentName != "" || shown.Version != 3 ||
			strings.Contains(fmt.Sprint(v.Claims["student_name"], v.Claims["shown"]), "Asha") || !strings.Contains(v.Explain(), "the student (not disclosed)") {
			t.Errorf("receipt without the name of the student: %v, %v", v.Claims, err)
		}
		news := guardian.Call(t, "GET", "/api/notifications", nil).Want(t, 200).JSON["items"].([]any)
		if n := news[0].(object); n["type"] != "coach_renamed" || !strings.HasPrefix(n["body"].(string), "Quick Loans is now called Meera Nair.") {
			t.Errorf("news %v", n)
		}
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "revoked", "version": 1}).Want(t, 200)
	})
}

var keyOnPage = regexp.MustCompile(`<textarea[^>]*name="key"[^>]*>([^<]+)<|name="key"[^>]*value="([^"]+)"`)

// keyOfLog returns the key that the page /verify offers.
func keyOfLog(t *testing.T, s *touchlinetest.Service) note.Verifier {
	t.Helper()
	found := keyOnPage.FindStringSubmatch(s.Browser(t).Open("/verify").Body)
	if found == nil {
		t.Fatal("no key on /verify")
	}
	key, err := note.NewVerifier(html.UnescapeString(found[1] + found[2]))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestRenameBeforeNo: a no on a page counts, whatever the coach is called by now: only a yes is refused.
func TestRenameBeforeNo(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		b := signInPages(t, s, "guardian", guardianNumber)
		b.Open("/me/guardian/players/" + id + "/answer")
		b.Press("No, not for Asha Rao")
		renameCoach(t, s, coach, "Delhi Public School")
		b.Press("Say no")
		got := coach.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200)
		if history := got.JSON["history"].([]any); got.String("guardian_status") != "rejected" || history[0].(object)["shown"] != nil {
			t.Errorf("after the no: %s", got.Body)
		}
	})
}

// TestRenameBeforeButton: a yes by a WhatsApp button counts only for the name that its message showed. The answer asks again
// with the new name.
func TestRenameBeforeButton(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		s := newChat(t, database, "request")
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		question := s.last(t, 1)
		s.inbound(t, guardianNumber, presses(question, 0))
		check := s.last(t, 2)
		renameCoach(t, s.Service, coach, "Delhi Public School")
		s.Clock.Advance(time.Second)
		for i, old := range []func(){
			func() { s.inbound(t, guardianNumber, presses(check, 0)) }, func() { s.inbound(t, guardianNumber, presses(question, 0)) },
		} {
			old()
			if m := s.last(t, 3+i); !strings.HasPrefix(m.Text, "The question has changed") || !strings.Contains(m.Text, "Delhi Public School") || len(m.Buttons) != 3 {
				t.Errorf("an old button: %+v", m)
			}
		}
		state := func() string {
			return coach.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200).String("guardian_status")
		}
		if got := state(); got != "pending" {
			t.Fatalf("after old buttons: %s", got)
		}
		s.inbound(t, guardianNumber, presses(s.last(t, 4), 0))
		s.inbound(t, guardianNumber, presses(s.last(t, 5), 0))
		if m := s.last(t, 6); state() != "approved" || !strings.Contains(m.Text, "Delhi Public School") {
			t.Errorf("%s: %+v", state(), m)
		}
	})
}

// TestLanguageBeforeButton: what was shown has a language. After the party chooses another language a button of the message in
// the former one asks again, and a no to it is recorded with the language in which it was asked. An answer of an app that names
// no version counts.
func TestLanguageBeforeButton(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database string) {
		s := newChat(t, database, "request")
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		english := s.last(t, 1)
		other := coach.AddPlayer(t, child(2, otherNumber)).String("player_id")
		guardian, app := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "guardian", otherNumber)
		for range 2 { // the second one changes nothing
			for _, u := range []*touchlinetest.User{guardian, app} {
				u.Call(t, "PATCH", "/api/me/preferences", object{"language": "hi"}).Want(t, 200)
			}
		}
		status := func(u *touchlinetest.User, id string) *touchlinetest.Response {
			return u.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200)
		}
		request := status(guardian, id).JSON["guardian_request"].(object)
		if request["version"] != float64(2) {
			t.Errorf("the request after the change of the language: %v", request)
		}
		refused := object{"player_id": other, "action": "approved", "version": 1}
		app.Call(t, "PUT", "/api/approval/guardian-response", refused).Want(t, 409, "request_superseded")
		app.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": other, "action": "approved"}).Want(t, 200)
		// The coach's choice counts for a number that has chosen none.
		third := coach.AddPlayer(t, child(3, "+919812300077")).String("player_id")
		for i, language := range []string{"hi", "hi", "en"} {
			coach.Call(t, "PATCH", "/api/players/"+third, object{"guardian": object{"language": language}}).Want(t, 200)
			if got := status(coach, third).JSON["guardian_request"].(object)["version"]; got != float64(2) {
				t.Errorf("after choice %d of the coach the version is %v, want 2", i, got)
			}
		}
		s.inbound(t, guardianNumber, presses(english, 0))
		if got := status(guardian, id).String("guardian_status"); got != "pending" {
			t.Fatalf("after an old button: %s", got)
		}
		s.inbound(t, guardianNumber, presses(english, 1))
		got := status(guardian, id)
		history := got.JSON["history"].([]any)
		if last := history[len(history)-1].(object); got.String("guardian_status") != "rejected" || last["shown"] != nil {
			t.Errorf("after the no of the old message: %v", history)
		}
		texts := guardian.Call(t, "GET", "/api/me/receipts", nil).Want(t, 200).JSON["items"].([]any)
		receipt, err := proof.ParseReceipt(guardian.Call(t, "GET", "/api/me/receipts/"+texts[0].(object)["record_id"].(string), nil).Want(t, 200).Body)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := receipt.Verify(keyOfLog(t, s.Service)); err != nil || v.Body.Language != "en" {
			t.Errorf("the record has the language %q (%v), want that of the message", v.Body.Language, err)
		}
	})
}
