package e2e_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

type object = map[string]any

// unknownIDs are a valid id, an id of another UUID version, and invalid ids.
var unknownIDs = []string{"0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21", "0198f2c4-6a10-4c3e-9b52-4f0e8d1a7b21", "0198F2C4-6A10-7C3E-9B52-4F0E8D1A7B21", "7", "%00", "%F0%9F%8F%91", "%2e%2e"}

// sameResponse reports whether two problems differ in the trace id only.
func sameResponse(a, b *touchlinetest.Response) bool {
	trace := regexp.MustCompile(`"trace_id":"[^"]*"`)
	return a.Status == b.Status && trace.ReplaceAllString(string(a.Body), "") == trace.ReplaceAllString(string(b.Body), "")
}

// TestPlayersAbsentBeforeInvalid: a player of another account looks like an
// unknown one, even if the request is invalid.
func TestPlayersAbsentBeforeInvalid(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, otherCoach := s.Coach(t, coachNumber), s.Coach(t, coach2Number)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		id, request := player.String("player_id"), player.String("guardian_request_id")
		guardian, student := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "student", studentNumber)
		none := otherCoach.Call(t, "GET", "/api/players/"+unknownIDs[0], nil).Want(t, 404, "not_found")
		hidden := func(a *touchlinetest.Response) {
			t.Helper()
			if a.Want(t, 404, "not_found"); !sameResponse(a, none) {
				t.Errorf("got %s, want the same as %s", none.Body, a.Body)
			}
		}
		for _, name := range append([]string{id}, unknownIDs...) {
			hidden(otherCoach.Call(t, "GET", "/api/players/"+name, nil))
			hidden(otherCoach.Call(t, "DELETE", "/api/players/"+name, nil))
			hidden(otherCoach.Call(t, "PATCH", "/api/players/"+name, object{"student": 7}))
			hidden(otherCoach.Call(t, "GET", "/api/players/approval-status/"+name, nil))
			hidden(otherCoach.Call(t, "GET", "/api/services/availability/"+name, nil))
			if strings.Contains(name, "%") {
				continue
			}
			for _, path := range []string{"send-guardian-request", "send-student-request", "send-reminder"} {
				hidden(otherCoach.Call(t, "POST", "/api/approval/"+path, object{"player_id": name, "channels": 7, "approver_type": "unknown"}))
			}
			if name != id {
				hidden(guardian.Call(t, "PUT", "/api/approval/guardian-response", object{"player_id": name, "action": 7}))
			}
		}
		for _, name := range append([]string{request}, unknownIDs...) {
			hidden(otherCoach.Call(t, "GET", "/api/approval/requests/"+name, nil))
			hidden(otherCoach.Call(t, "POST", "/api/approval/requests/"+name+"/cancel", nil))
			hidden(otherCoach.Call(t, "POST", "/api/approval/requests/"+name+"/follow-up", object{"note": 7}))
		}
		student.Call(t, "GET", "/api/approval/requests/7", nil).Want(t, 403, "approval_pending")
		hidden(student.Call(t, "POST", "/api/approval/requests/"+request+"/dispute", nil))
		hidden(student.Call(t, "DELETE", "/api/approval/requests/"+request+"/dispute", nil))

		coach.Call(t, "POST", "/api/approval/send-reminder", object{"player_id": id, "approver_type": "unknown"}).Want(t, 422, "validation_failed")
		coach.Call(t, "POST", "/api/approval/send-reminder", object{"approver_type": "guardian"}).Want(t, 422, "validation_failed")
		coach.Call(t, "POST", "/api/approval/send-reminder", object{"player_id": 7}).Want(t, 422, "validation_failed")
		coach.Call(t, "POST", "/api/approval/send-reminder", `[]`).Want(t, 422, "validation_failed")
		coach.Call(t, "POST", "/api/approval/send-reminder", object{"player_id": "a\x00"}).Want(t, 404, "not_found")
		coach.Call(t, "PATCH", "/api/players/"+id, object{"guardian": nil}).Want(t, 422, "validation_failed")
		coach.Call(t, "PATCH", "/api/players/"+id, object{}, "Content-Type: application/merge-patch+json").Want(t, 200)
	})
}

// TestPlayersRoles: parties cannot use the coach's calls, coaches cannot decide,
// and each party decides for itself only.
func TestPlayersRoles(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		guardian, student := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "student", studentNumber)
		for _, call := range [][2]string{
			{"POST", "/api/players/add"},
			{"GET", "/api/players"},
			{"PATCH", "/api/players/" + id},
			{"DELETE", "/api/players/" + id},
			{"POST", "/api/approval/send-guardian-request"},
			{"POST", "/api/approval/send-student-request"},
			{"POST", "/api/approval/send-reminder"},
			{"POST", "/api/approval/requests/" + id + "/cancel"},
			{"POST", "/api/approval/requests/" + id + "/follow-up"},
			{"GET", "/api/coach/pending-approvals"},
		} {
			guardian.Call(t, call[0], call[1], nil).Want(t, 403, "role_not_allowed")
			student.Call(t, call[0], call[1], nil).Want(t, 403, "role_not_allowed")
		}
		coach.Call(t, "PUT", "/api/approval/guardian-response", nil).Want(t, 403, "role_not_allowed")
		coach.Call(t, "PUT", "/api/approval/student-response", nil).Want(t, 403, "role_not_allowed")
		guardian.Call(t, "PUT", "/api/approval/student-response", nil).Want(t, 403, "role_not_allowed")
		student.Call(t, "PUT", "/api/approval/guardian-response", nil).Want(t, 403, "role_not_allowed")
		coach.Call(t, "GET", "/api/me/players", nil).Want(t, 403, "role_not_allowed")
		coach.Call(t, "POST", "/api/approval/requests/"+id+"/dispute", nil).Want(t, 403, "role_not_allowed")
	})
}

// TestPlayersDisclosure: who can read the medical information and the other
// party's data.
func TestPlayersDisclosure(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		added := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
		id := added.String("player_id")
		if got := added.Header.Get("Location"); got != "/api/players/"+id {
			t.Errorf("got Location %q", got)
		}
		guardian, student := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "student", studentNumber)
		status := student.Call(t, "PUT", "/api/approval/student-response", object{"player_id": id, "action": "approved", "reason": "Yes,\nplease."}).Want(t, 200)
		if len(status.JSON["history"].([]any)) != 1 || status.String("student_request.state") != "approved" || status.String("guardian_request.state") != "pending" {
			t.Errorf("approval status: got %s", status.Body)
		}
		if _, there := student.Call(t, "GET", "/api/players/"+id, nil).Want(t, 200).JSON["student"].(object)["medical_information"]; there {
			t.Error("a student under age reads the medical information")
		}
		student.Call(t, "GET", "/api/players/"+id+"/medical", nil).Want(t, 403, "role_not_allowed")
		if got := guardian.Call(t, "GET", "/api/players/"+id, nil).Want(t, 200); strings.Contains(string(got.Body), studentNumber) || got.String("coach_name") == "" {
			t.Errorf("guardian before the approval: got %s", got.Body)
		}
		if got := guardian.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200); strings.Contains(string(got.Body), "please") {
			t.Errorf("the other party's reason: got %s", got.Body)
		}
	})
}

// TestLinkPage: the SMS link opens a page that names the coach, until the request
// is decided or the link expires.
func TestLinkPage(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		link := func(number string) string {
			_, path, found := strings.Cut(s.SMS(number, "message", 0).Text, s.Config.PublicURL)
			if !found {
				t.Fatal("the message has no link")
			}
			return strings.Fields(path)[0]
		}
		guardians, students := link(guardianNumber), link(studentNumber)
		question := map[string]string{
			"guardian": "May the Touchline app serve you about Asha Rao?", "student": "Asha Rao, may the Touchline app serve you?",
		}
		for path, who := range map[string]string{guardians: "guardian", students: "student"} {
			page := s.Call(t, "GET", path, "", nil).Want(t, 200)
			if body := string(page.Body); !strings.Contains(body, "Meera Nair") || !strings.Contains(body, "Asha Rao") || !strings.Contains(body, question[who]) {
				t.Errorf("%s: got %s", who, body)
			}
			s.Call(t, "HEAD", path, "", nil).Want(t, 200)
			s.Call(t, "POST", path, "", nil).Want(t, 405)
		}
		s.SignIn(t, "student", studentNumber).Call(t, "PUT", "/api/approval/student-response", object{"player_id": id, "action": "rejected"}).Want(t, 200)
		s.Call(t, "GET", students, "", nil).Want(t, 404)
		s.Clock.Advance(s.Config.LinkValidity + time.Second)
		s.Call(t, "GET", guardians, "", nil).Want(t, 404)
		s.Call(t, "GET", "/a/never", "", nil).Want(t, 404)
	})
}

// TestIncompleteProfileSendsNothing: calls that send a request need a complete
// profile; other calls do not.
func TestIncompleteProfileSendsNothing(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		coach.Call(t, "PATCH", "/api/coach/profile", map[string]any{"bio": nil}).Want(t, 200)
		for _, patch := range []map[string]any{
			{"student": map[string]any{"full_name": "Anya Rao"}},
			{"student": map[string]any{"date_of_birth": "2013-04-30"}},
			{"student": map[string]any{"contact_number": otherNumber}},
			{"guardian": map[string]any{"mobile_number": otherNumber}},
		} {
			refused := coach.Call(t, "PATCH", "/api/players/"+id, patch).Want(t, 403, "profile_incomplete")
			if refused.String("missing") != "[bio]" {
				t.Errorf("missing fields: got %s", refused.Body)
			}
		}
		for _, field := range []string{"medical_information", "contact_number"} { // removing a number opens no request
			coach.Call(t, "PATCH", "/api/players/"+id, map[string]any{"student": map[string]any{field: nil}}).Want(t, 200)
		}
		for _, path := range []string{"send-guardian-request", "send-student-request", "send-reminder"} {
			coach.Call(t, "POST", "/api/approval/"+path, map[string]any{"player_id": id, "approver_type": "guardian"}).Want(t, 403, "profile_incomplete")
		}
	})
}

// TestTestNumbersApart: a test number is linked with test numbers only. The problem and its
// page say so, and not that the number is the coach's own.
func TestTestNumbersApart(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		p := s.Coach(t, coachNumber).Call(t, "POST", "/api/players/add", touchlinetest.Minor(guardianNumber, "")).Want(t, 422, "contact_conflict")
		if got, want := p.String("title"), "That number cannot be used here"; got != want {
			t.Errorf("title: got %q, want %q", got, want)
		}
		page := s.Call(t, "GET", "/problems/contact_conflict", "", nil).Want(t, 200)
		if want := "A test number can be linked with test numbers only."; !strings.Contains(string(page.Body), want) {
			t.Errorf("page of the problem: no %q", want)
		}
	}, func(c *config.Config) {
		c.TestNumbers = []config.TestNumber{{Number: guardianNumber, Code: "123456", Until: time.Now().Add(24 * time.Hour)}}
	})
}

// TestNulls: null means the same as an absent field, except in a merge patch,
// where it clears the field.
func TestNulls(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": coachNumber, "role": nil, "channel": nil, "device_token": nil}).Want(t, 202)
		coach := s.Coach(t, coach2Number)
		adult := coach.AddPlayer(t, map[string]any{
			"student": map[string]any{"full_name": "Old Hand", "date_of_birth": "1990-01-02", "contact_number": nil, "medical_information": nil}, "guardian": nil,
		})
		id := adult.String("player_id")
		if adult.JSON["guardian"] != nil || adult.JSON["adult"] != true {
			t.Fatalf("adult without guardian: got %s", adult.Body)
		}
		coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": id, "guardian": nil, "channels": nil}).Want(t, 409, "no_contact_number")
		for _, patch := range []map[string]any{
			{"student": nil},
			{"student": map[string]any{"full_name": nil}},
			{"student": map[string]any{"date_of_birth": nil}},
			{"guardian": map[string]any{"name": nil}},
		} {
			coach.Call(t, "PATCH", "/api/players/"+id, patch).Want(t, 422, "validation_failed")
		}
	})
}
