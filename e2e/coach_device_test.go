package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// signInOn signs a number in on the device that has a token.
func signInOn(t *testing.T, s *touchlinetest.Service, role, number, device string) *touchlinetest.User {
	t.Helper()
	s.Clock.Advance(61 * time.Second)
	before := s.Sent(number, "otp")
	s.Call(t, "POST", "/auth/request-otp", "", withDevice(object{"mobile_number": number, "role": role}, device)).Want(t, 202)
	login := s.Call(t, "POST", "/auth/login", "", withDevice(object{"mobile_number": number, "role": role, "otp": s.OTP(number, before)}, device)).Want(t, 200)
	return &touchlinetest.User{Service: s, Number: number, Role: role, Access: login.String("access_token"), Device: login.String("device_token")}
}

// flagged returns the players with an approval on a device of the coach, as an operator sees them.
func flagged(t *testing.T, op *touchlinetest.Operator, coachID string) (players []string) {
	t.Helper()
	coach := op.Call(t, "GET", "/api/admin/coaches/"+coachID, nil).Want(t, 200)
	for _, item := range coach.JSON["approvals_on_coach_device"].([]any) {
		players = append(players, item.(map[string]any)["player_id"].(string))
	}
	return players
}

// TestApprovalOnCoachDevice: a yes from a device that has signed in as the coach counts, and the
// family and the operators learn of it. Other decisions and other devices have no flag.
func TestApprovalOnCoachDevice(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		op := s.Operator(t, operator.Coaches)
		coach := s.Coach(t, coachNumber)
		add := func(name, guardian, student string) string {
			child := touchlinetest.Minor(guardian, student)
			child["student"].(map[string]any)["full_name"] = name
			return coach.AddPlayer(t, child).String("player_id")
		}
		decide := func(by *touchlinetest.User, playerID, action string) {
			t.Helper()
			by.Call(t, "PUT", "/api/approval/"+by.Role+"-response", object{"player_id": playerID, "action": action}).Want(t, 200)
		}
		const studentNumber, second = "+919812300081", "+919812300082"
		one, two, three := add("Asha Rao", guardianNumber, studentNumber), add("Bela Rao", guardianNumber, ""), add("Chitra Rao", second, "")

		decide(s.SignIn(t, "guardian", guardianNumber), two, "approved") // on a device of the guardian
		if got := flagged(t, op, coach.ID); len(got) != 0 {
			t.Fatalf("on a device of the guardian: flagged %v", got)
		}

		// The coach logs out everywhere, which ends the device token, and answers for the child.
		coach.Call(t, "POST", "/auth/logout", object{"all": true}).Want(t, 204)
		guardian := signInOn(t, s, "guardian", guardianNumber, coach.Device)
		decide(guardian, one, "approved")
		decide(guardian, two, "revoked") // only a yes can be wrong
		if got := flagged(t, op, coach.ID); len(got) != 1 || got[0] != one {
			t.Errorf("on the coach's device: flagged %v, want %s", got, one)
		}
		status := guardian.Call(t, "GET", "/api/players/approval-status/"+one, nil).Want(t, 200)
		if status.String("guardian_status") != "approved" {
			t.Errorf("the approval must stand: got %s", status.Body)
		}

		// The device signs in as the coach after it has signed in as the student.
		student := signInOn(t, s, "student", studentNumber, "")
		signInOn(t, s, "coach", coachNumber, student.Device)
		decide(student, one, "approved")
		if got := flagged(t, op, coach.ID); len(got) != 2 {
			t.Errorf("on a device that became the coach's: flagged %v", got)
		}

		// On the device of another coach there is no flag.
		other := s.Coach(t, "+919812300083")
		decide(signInOn(t, s, "guardian", second, other.Device), three, "approved")
		if got := append(flagged(t, op, coach.ID), flagged(t, op, other.ID)...); len(got) != 2 {
			t.Errorf("on the device of another coach: flagged %v", got)
		}
	})
}

// TestApprovalInCoachBrowser: the browser in which the coach signed in approves as the guardian. The
// guardian's page says so, and the console of operators lists it.
func TestApprovalInCoachBrowser(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		browser := s.Browser(t)
		signIn := func(b *touchlinetest.Browser, role, number string) {
			s.Clock.Advance(61 * time.Second)
			before := s.Sent(number, "otp")
			b.Open("/sign-in/" + role)
			b.Press("Send me a code", "number", number)
			b.Press("Continue", "code", s.OTP(number, before))
		}
		signIn(browser, "coach", coachNumber)
		signIn(browser, "guardian", guardianNumber)
		path := "/me/guardian/players/" + player
		browser.Open(path + "/answer")
		browser.Press("Yes, for Asha Rao")
		browser.Press("Say yes")
		own := s.Browser(t)
		signIn(own, "guardian", guardianNumber)
		if page := own.Open(path); !strings.Contains(page.Body, "given on a phone that also signs in as the coach. If that was not you, take it back.") {
			t.Errorf("the guardian's page does not name the coach's device:\n%s", page.Body)
		}
		if got := flagged(t, s.Operator(t, operator.Coaches), coach.ID); len(got) != 1 {
			t.Errorf("flagged %v", got)
		}
	})
}
