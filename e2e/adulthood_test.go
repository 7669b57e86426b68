package e2e_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestTurning18: a student who becomes an adult and the guardian are told by SMS. From then on the
// student reads the medical notes, and ends the guardian's view with one button.
func TestTurning18(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		now := s.Clock.Now().UTC()
		birthday := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC).AddDate(0, 0, 40)
		body := touchlinetest.Minor(guardianNumber, studentNumber)
		body["student"].(map[string]any)["date_of_birth"] = birthday.AddDate(-18, 0, 0).Format(time.DateOnly)
		id := coach.AddPlayer(t, body).String("player_id")
		path := "/api/me/players/" + id + "/end-guardian-view"
		approve := func(u *touchlinetest.User) {
			t.Helper()
			u.Call(t, "PUT", "/api/approval/"+u.Role+"-response", object{"player_id": id, "action": "approved"}).Want(t, 200)
		}
		users := func() (guardian, student *touchlinetest.User) {
			return s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "student", studentNumber)
		}
		guardian, student := users()
		approve(guardian)
		student.Call(t, "POST", path, nil).Want(t, 403, "role_not_allowed")
		guardian.Call(t, "POST", path, nil).Want(t, 403, "role_not_allowed")

		told := func(text string, numbers ...string) {
			t.Helper()
			for _, number := range numbers {
				for n := 0; ; n++ { // waits for the SMS
					if strings.Contains(s.SMS(number, "message", n).Text, text) {
						break
					}
				}
			}
		}
		s.Clock.Advance(birthday.AddDate(0, 0, -30).Add(10 * time.Hour).Sub(now))
		told("turns 18", guardianNumber, studentNumber)
		s.Clock.Advance(birthday.Add(10 * time.Hour).Sub(s.Clock.Now()))
		told("is 18", guardianNumber, studentNumber)

		guardian, student = users()
		student.Call(t, "POST", path, nil).Want(t, 403, "approval_pending")
		approve(student)
		student.Call(t, "GET", "/api/players/"+id+"/medical", nil).Want(t, 200)
		guardian.Call(t, "GET", "/api/players/"+id+"/medical", nil).Want(t, 200)
		for u, want := range map[*touchlinetest.User][]string{guardian: {"turned_18", "turning_18_soon"}, student: {"turned_18", "turning_18_soon"}, s.SignIn(t, "coach", coachNumber): {"turned_18"}} {
			var types []string
			for _, item := range u.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items() {
				if kind := item["type"].(string); strings.HasPrefix(kind, "turn") {
					types = append(types, kind)
				}
			}
			if !slices.Equal(types, want) {
				t.Errorf("the %s has %v, want %v", u.Role, types, want)
			}
		}

		b := signInPages(t, s, "student", studentNumber)
		b.Open("/me/student/players/" + id)
		wantText(t, "page of the student", b.Page, []string{"End your guardian’s view"}, nil)
		b.Press("End the view")
		wantText(t, "after the end", b.Page, []string{"Your guardian no longer sees anything about you."}, []string{"End the view"})
		guardian.Call(t, "GET", "/api/players/"+id, nil).Want(t, 404)
		guardian.Call(t, "GET", "/api/players/"+id+"/medical", nil).Want(t, 404)
		if a := student.Call(t, "POST", path, nil).Want(t, 200); a.JSON["guardian"] != nil || a.String("student_status") != "approved" {
			t.Errorf("ended again: got %s", a.Body)
		}
		student.Call(t, "GET", "/api/players/"+id+"/medical", nil).Want(t, 200)
	})
}
