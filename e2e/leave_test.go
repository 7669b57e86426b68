package e2e_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestDeleteFamilyAccount: a guardian of two coaches deletes the account. The coaches lose the number, the student keeps the own
// answer, and the same number as a student keeps its account.
func TestDeleteFamilyAccount(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		db := openTables(t, s)
		coach, other := s.Coach(t, coachNumber), s.Coach(t, "+919812300009")
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		pending := other.AddPlayer(t, child(2, guardianNumber)).String("player_id")
		disputed := other.AddPlayer(t, child(3, guardianNumber))
		removed := other.AddPlayer(t, child(4, guardianNumber)).String("player_id")
		other.Call(t, "DELETE", "/api/players/"+removed, nil).Want(t, 204)
		body := touchlinetest.Minor("+919812300021", guardianNumber) // the number is a student's too
		body["student"].(map[string]any)["full_name"] = "Old Student"
		body["student"].(map[string]any)["date_of_birth"] = "1990-01-02"
		adult := other.AddPlayer(t, body).String("player_id")
		guardian, student, sameNumber := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "student", studentNumber), s.SignIn(t, "student", guardianNumber)
		decide := func(u *touchlinetest.User, id string) {
			t.Helper()
			u.Call(t, "PUT", "/api/approval/"+u.Role+"-response", object{"player_id": id, "action": "approved"}).Want(t, 200)
		}
		decide(guardian, id)
		decide(student, id)
		decide(sameNumber, adult)
		guardian.Call(t, "POST", "/api/approval/requests/"+disputed.String("guardian_request_id")+"/dispute", nil).Want(t, 200)
		s.Clock.Advance(auth.RecentOTP + time.Second)
		stale := refresh(t, s, guardian.Refresh).Want(t, 200)
		s.Call(t, "DELETE", "/api/me", stale.String("access_token"), nil).Want(t, 403, "fresh_otp_required")
		guardian = s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "DELETE", "/api/me", object{"why": "x"}).Want(t, 422, "validation_failed")

		guardian.Call(t, "DELETE", "/api/me", nil).Want(t, 204)
		guardian.Call(t, "DELETE", "/api/me", nil).Want(t, 401)
		guardian.Call(t, "GET", "/api/me", nil).Want(t, 401)
		s.Call(t, "GET", "/api/me", stale.String("access_token"), nil).Want(t, 401)
		refresh(t, s, guardian.Refresh).Want(t, 401)

		coach, other = s.SignIn(t, "coach", coachNumber), s.SignIn(t, "coach", "+919812300009")
		for player, c := range map[string]*touchlinetest.User{id: coach, pending: other, disputed.String("player_id"): other} {
			a := c.Call(t, "GET", "/api/players/"+player, nil).Want(t, 200)
			if a.JSON["guardian"] != nil || strings.Contains(string(a.Body), guardianNumber) {
				t.Errorf("the coach still sees the guardian: %s", a.Body)
			}
			if c.Call(t, "GET", "/api/players/approval-status/"+player, nil).Want(t, 200).String("guardian_status") != "pending" {
				t.Error("the consent of the guardian is not pending")
			}
		}
		if n, m := countNotifications(t, coach, "guardian_revoked"), countNotifications(t, other, "guardian_rejected"); n != 1 || m != 1 {
			t.Errorf("the coaches have %d and %d notifications, want one each", n, m)
		}
		if n, m := countNotifications(t, coach, "guardian_left"), countNotifications(t, other, "guardian_left"); n != 0 || m != 1 {
			t.Errorf("the coaches have %d and %d notifications of a guardian who left, want only that of the disputed request", n, m)
		}
		if got := coach.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200).String("student_status"); got != "approved" {
			t.Errorf("student: %s", got)
		}
		sameNumber = s.SignIn(t, "student", guardianNumber)
		sameNumber.Call(t, "GET", "/api/players/"+adult, nil).Want(t, 200)
		for what, query := range map[string]string{
			"accounts":      `SELECT count(*) FROM accounts WHERE id = $1 AND mobile_number <> 'erased:' || id`,
			"sessions":      `SELECT count(*) FROM sessions WHERE account_id = $1`,
			"notifications": `SELECT count(*) FROM notifications WHERE account_id = $1`,
			"record keys":   `SELECT count(*) FROM record_keys WHERE account_id = $1 AND sealed IS NOT NULL`,
		} {
			if n := queryOne[int](t, db, query, guardian.ID); n != 0 {
				t.Errorf("%d %s are left", n, what)
			}
		}
		if n := queryOne[int](t, db, `SELECT count(*) FROM consent_records`); n == 0 {
			t.Error("the proof of consents was deleted")
		}

		// "This isn't me" stays, for the same number and child. It names neither. An operator can end it.
		sameGuardian := object{"name": "Meera", "relationship": "mother", "mobile_number": guardianNumber}
		other.Call(t, "PATCH", "/api/players/"+disputed.String("player_id"), object{"guardian": sameGuardian}).Want(t, 409, "contact_disputed")
		other.Call(t, "DELETE", "/api/players/"+disputed.String("player_id"), nil).Want(t, 204)
		other.Call(t, "POST", "/api/players/add", child(3, guardianNumber)).Want(t, 409, "contact_disputed")
		if n := queryOne[int](t, db, `SELECT count(*) FROM accounts WHERE mobile_number = $1 AND role = 'guardian'`, guardianNumber); n != 0 {
			t.Error("a refused player added an account")
		}
		op := s.Operator(t, operator.Disputes)
		found := op.Call(t, "POST", "/api/admin/disputes/search", object{"number": guardianNumber}).Want(t, 200).Items()
		if len(found) != 1 || found[0]["request_id"] != disputed.String("guardian_request_id") {
			t.Fatalf("disputes of the number: %v", found)
		}
		op.Call(t, "DELETE", "/api/admin/disputes/"+disputed.String("guardian_request_id"), nil).Want(t, 204)
		other.AddPlayer(t, child(3, guardianNumber))

		b := signInPages(t, s, "coach", coachNumber)
		for _, path := range []string{"", "/edit"} {
			if b.Open("/coach/players/" + id + path); b.Page.Status != 200 || strings.Contains(b.Page.Body, guardianNumber[3:]) {
				t.Errorf("page%s of the coach: %d %s", path, b.Page.Status, b.Page.Text())
			}
		}

		// The coach enters the number again: it starts empty, and is asked.
		coach.Call(t, "PATCH", "/api/players/"+id, object{"guardian": object{"name": "Meera", "relationship": "mother", "mobile_number": guardianNumber}}).Want(t, 200)
		again := s.SignIn(t, "guardian", guardianNumber)
		if again.ID == guardian.ID {
			t.Error("the number has the old account")
		}
		decide(again, id)
		again.Call(t, "GET", "/api/players/approval-status/"+pending, nil).Want(t, 404)
	})
}

// TestDeleteStudentAccount: a student with a guardian deletes the account on a page, after a new code.
func TestDeleteStudentAccount(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
		guardian, student := s.SignIn(t, "guardian", guardianNumber), s.SignIn(t, "student", studentNumber)
		for _, u := range []*touchlinetest.User{guardian, student} {
			u.Call(t, "PUT", "/api/approval/"+u.Role+"-response", object{"player_id": id, "action": "approved"}).Want(t, 200)
		}
		b := signInPages(t, s, "student", studentNumber)
		b.Open("/me/student/settings")
		wantText(t, "settings", b.Page, []string{"Delete my account"}, nil)
		s.Clock.Advance(auth.RecentOTP + time.Second)
		b.Open("/me/student/delete")
		wantText(t, "page after a while", b.Page, []string{"Get a code", "Go back, keep my account"}, []string{"Delete my account now"})
		b = signInPages(t, s, "student", studentNumber)
		b.Open("/me/student/delete")
		wantText(t, "page", b.Page, []string{"What ends at once", "What stays", "Go back, keep my account"}, nil)
		b.Press("Delete my account now")
		wantText(t, "deleted", b.Page, []string{"Your account is deleted"}, nil)
		b.Open("/account-deleted?signed-out")
		wantText(t, "signed out", b.Page, []string{"You are signed out"}, nil)
		student.Call(t, "GET", "/api/me", nil).Want(t, 401)
		guardian = s.SignIn(t, "guardian", guardianNumber)
		a := guardian.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200)
		if a.String("guardian_status") != "approved" || a.String("student_status") != "pending" {
			t.Errorf("status: %s", a.Body)
		}
		if n := countNotifications(t, s.SignIn(t, "coach", coachNumber), "student_revoked"); n != 1 {
			t.Errorf("the coach has %d notifications", n)
		}
	})
}

// TestDeleteFamilyAccountRaces: while a guardian deletes the account, another device answers and signs in, and the coach asks
// again and adds a second child.
func TestDeleteFamilyAccountRaces(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		r, db := s.Replica(), openTables(t, s)
		coach := s.Coach(t, coachNumber)
		for n := range raceRounds {
			number := fmt.Sprint("+9198125", 20000+n)
			id := coach.AddPlayer(t, child(2*n, number)).String("player_id")
			guardian := s.SignIn(t, "guardian", number)
			s.Clock.Advance(61 * time.Second)
			phone := s.SignIn(t, "guardian", number)
			got := concurrently(t,
				callLater(s, "DELETE", "/api/me", guardian.Access, nil),
				callLater(r, "DELETE", "/api/me", phone.Access, nil),
				callLater(r, "PUT", "/api/approval/guardian-response", phone.Access, object{"player_id": id, "action": "approved"}),
				callLater(r, "POST", "/api/players/add", coach.Access, child(2*n+1, number)),
				callLater(s, "POST", "/api/approval/send-guardian-request", coach.Access, object{"player_id": id}))
			for _, a := range got[:2] {
				if a.Status != 204 && a.Status != 401 && a.Status != 503 {
					t.Errorf("delete: got %s", a.Body)
				}
			}
			if got[0].Status != 204 && got[1].Status != 204 {
				t.Errorf("the account still exists: %s, %s", got[0].Body, got[1].Body)
			}
			got[3].Want(t, 201)
			for what, query := range map[string]string{
				"numbers":       `SELECT count(*) FROM accounts WHERE id = $1 AND mobile_number <> 'erased:' || id`,
				"live players":  `SELECT count(*) FROM parties WHERE account_id = $1 AND deleted_at IS NULL`,
				"sessions":      `SELECT count(*) FROM sessions WHERE account_id = $1`,
				"record keys":   `SELECT count(*) FROM record_keys WHERE account_id = $1 AND sealed IS NOT NULL`,
				"open requests": `SELECT count(*) FROM requests WHERE state = 'pending' AND approver_id = $1`,
			} {
				if n := queryOne[int](t, db, query, guardian.ID); n != 0 {
					t.Errorf("%d %s are left", n, what)
				}
			}
			if state := queryOne[string](t, db, `SELECT state FROM parties WHERE player_id = $1 AND role = 'guardian'`, id); state != "pending" {
				t.Errorf("the guardian's consent is %s", state)
			}
		}
	}, func(c *config.Config) { c.OTPValidity = time.Hour }, touchlinetest.ManyConnections)
}
