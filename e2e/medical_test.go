package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// readings returns who read the medical notes of a player, newest first, as a party sees it.
func readings(t *testing.T, party *touchlinetest.User, id string) []string {
	t.Helper()
	var list []string
	for _, item := range party.Call(t, "GET", "/api/me/players/"+id+"/access-log", nil).Want(t, 200).Items() {
		name, _ := item["reader_name"].(string)
		list = append(list, strings.Join(strings.Fields(item["reader_role"].(string)+" "+name+" "+item["purpose"].(string)), " "))
	}
	return list
}

// TestMedicalReadings: the medical text is in one response alone. Each reading is recorded, and
// the family sees it. No other account can read either.
func TestMedicalReadings(t *testing.T) {
	t.Parallel()
	const otherGuardian = "+919812300019"
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, other := s.Coach(t, coachNumber), s.Coach(t, coach2Number)
		added := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		id := added.String("player_id")
		coach.AddPlayer(t, child(1, otherGuardian))
		guardian, student, stranger := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "student", studentNumber), s.SignIn(t, "guardian", otherGuardian)
		medical, log := "/api/players/"+id+"/medical", "/api/me/players/"+id+"/access-log"

		coach.Call(t, "GET", log, nil).Want(t, 403, "role_not_allowed")
		for _, u := range []*touchlinetest.User{other, stranger} {
			u.Call(t, "GET", medical, nil).Want(t, 404)
		}
		stranger.Call(t, "GET", log, nil).Want(t, 404)
		for _, u := range []*touchlinetest.User{guardian, student} {
			u.Call(t, "GET", log, nil).Want(t, 403, "approval_pending")
		}
		guardian.Call(t, "GET", medical, nil).Want(t, 403, "approval_pending")
		student.Call(t, "GET", medical, nil).Want(t, 403, "role_not_allowed")
		respond := func(u *touchlinetest.User, action string) {
			t.Helper()
			u.Call(t, "PUT", "/api/approval/"+u.Role+"-response", object{"player_id": id, "action": action}).Want(t, 200)
		}
		respond(guardian, "approved")
		respond(student, "approved")
		student.Call(t, "GET", medical, nil).Want(t, 403, "role_not_allowed")
		if got := readings(t, guardian, id); len(got) != 0 {
			t.Errorf("readings before the first: %q", got)
		}

		for _, u := range []*touchlinetest.User{coach, guardian} {
			if a := u.Call(t, "GET", medical, nil).Want(t, 200); !strings.HasPrefix(a.String("medical_information"), "Asthma") {
				t.Errorf("%s: got %s", u.Role, a.Body)
			}
			s.Clock.Advance(time.Second)
		}
		for _, path := range []string{"/api/players/" + id, "/api/players", "/api/players/approval-status/" + id, "/api/coach/dashboard"} {
			if a := coach.Call(t, "GET", path, nil).Want(t, 200); strings.Contains(string(a.Body), "Asthma") {
				t.Errorf("GET %s has the medical text: %s", path, a.Body)
			}
		}
		patched := coach.Call(t, "PATCH", "/api/players/"+id, object{"student": object{"medical_information": "Asthma, mild."}}).Want(t, 200)
		for _, a := range []*touchlinetest.Response{added, patched} {
			if strings.Contains(string(a.Body), "Asthma") || a.String("student.has_medical_information") != "true" {
				t.Errorf("a change answers with %s", a.Body)
			}
		}
		if got, want := readings(t, student, id), []string{"guardian shown", "coach Meera Nair shown"}; !slices.Equal(got, want) {
			t.Errorf("readings: got %q, want %q", got, want)
		}
		first := guardian.Call(t, "GET", log+"?limit=1", nil).Want(t, 200)
		rest := guardian.Call(t, "GET", log+"?limit=1&cursor="+first.String("next_cursor"), nil).Want(t, 200).Items()
		if len(first.Items()) != 1 || len(rest) != 1 || rest[0]["reader_role"] != "coach" || strings.Contains(string(first.Body), "Asthma") {
			t.Errorf("pages: got %s, then %v", first.Body, rest)
		}
		guardian.Call(t, "GET", log+"?page=2", nil).Want(t, 422)

		// Nothing to read is no reading.
		coach.Call(t, "PATCH", "/api/players/"+id, object{"student": object{"medical_information": nil}}).Want(t, 200)
		if a := coach.Call(t, "GET", medical, nil).Want(t, 200); a.JSON["medical_information"] != nil {
			t.Errorf("without a text: got %s", a.Body)
		}
		if got := readings(t, guardian, id); len(got) != 2 {
			t.Errorf("readings without a text: got %q", got)
		}
		respond(guardian, "revoked")
		guardian.Call(t, "GET", medical, nil).Want(t, 403, "approval_required")
		guardian.Call(t, "GET", log, nil).Want(t, 403, "approval_required")
		coach.Call(t, "DELETE", "/api/players/"+id, nil).Want(t, 204)
		coach.Call(t, "GET", medical, nil).Want(t, 404)
	})
}

// TestMedicalPages: the pages of a coach say that there are medical notes and show them on
// request, which the page of the family lists.
func TestMedicalPages(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": id, "action": "approved"}).Want(t, 200)
		batch := addBatch(t, coach, "Juniors")
		coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+id, nil).Want(t, 204)

		b := signInPages(t, s, "coach", coachNumber)
		page := "/coach/players/" + id
		for _, path := range []string{"/coach", "/coach/players", page, page + "?tab=details", page + "?tab=history", page + "/medical", "/coach/batches/" + batch, "/coach/batches/" + batch + "/attendance/" + s.Clock.Now().Format(time.DateOnly)} {
			b.Open(path)
			if strings.Contains(b.Page.Text(), "inhaler") {
				t.Errorf("%s shows the notes", path)
			}
		}
		if !strings.Contains(b.Page.Text(), "✚ medical notes") {
			t.Error("the sheet does not say that there are medical notes")
		}
		if got := readings(t, guardian, id); len(got) != 0 {
			t.Errorf("readings after pages without the notes: %q", got)
		}
		b.Open(page)
		b.Press("Medical notes: show")
		if !strings.Contains(b.Page.Text(), "inhaler") {
			t.Errorf("the notes are not shown: %s", b.Page.Text())
		}
		s.Clock.Advance(time.Second)
		b.Open(page + "/edit")
		if got, want := readings(t, guardian, id), []string{"coach Meera Nair edited", "coach Meera Nair shown"}; !slices.Equal(got, want) {
			t.Errorf("readings: got %q, want %q", got, want)
		}
		f := signInPages(t, s, "guardian", guardianNumber)
		f.Open("/me/guardian/players/" + id + "/medical")
		if text := f.Page.Text(); strings.Contains(text, "inhaler") || strings.Count(text, "Meera Nair, coach") != 2 {
			t.Errorf("page of the family: %s", text)
		}
		f.Press("Medical notes: show")
		if text := f.Page.Text(); !strings.Contains(text, "inhaler") || !strings.Contains(text, "The guardian") {
			t.Errorf("page of the family after its own reading: %s", text)
		}
	})
}
