package browser_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// wrongCode returns a code that is not right.
func wrongCode(right string) string {
	if right == "000000" {
		return "000001"
	}
	return "000000"
}

// TestCoachChangesNumber changes the number with a code to each, after each kind of fault.
func TestCoachChangesNumber(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	const newNumber = "+919812345691"
	s.Coach(t, "+919812345692")
	user := s.Coach(t, coachNumber)
	user.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
	b := newPhone(t, s.URL)
	b.signIn(s, "coach", coachNumber)
	b.open("/coach/settings")
	b.press("Change my number")
	for number, fault := range map[string]string{"12": "Enter a mobile number", coachNumber: "This is your number already."} {
		b.press("Send both codes", "number", number)
		b.wantFault("number", fault)
		if got := b.value("number"); got != number {
			t.Errorf("the field has %q after a fault, want %q", got, number)
		}
	}
	// begin asks for codes and returns them.
	begin := func(number string) (code, newCode string) {
		t.Helper()
		sent, sentNew := s.Sent(coachNumber, "otp"), s.Sent(number, "otp")
		b.open("/coach/settings/number")
		b.press("Send both codes", "number", number)
		b.wantHeading("Enter both codes")
		return s.OTP(coachNumber, sent), s.OTP(number, sentNew)
	}
	for number, fault := range map[string]string{guardianNumber: "A family of yours has this number.", "+919812345692": "A coach with this number is registered already."} {
		code, newCode := begin(number)
		b.press("Change my number", "code", code, "new_code", newCode)
		b.wantFault("number", fault)
		s.Clock.Skip(61 * time.Second)
	}
	code, newCode := begin(newNumber)
	b.press("Change my number", "code", "1", "new_code", "")
	b.wantFault("code", "Enter the 6 digits of the code.")
	b.wantFault("new_code", "Enter the 6 digits of the code.")
	b.press("Change my number", "code", wrongCode(code), "new_code", newCode)
	b.wantFault("code", "You have 4 tries left.")
	if got := b.value("new_code"); got != newCode {
		t.Errorf("the other code is %q after a fault, want %q", got, newCode)
	}
	b.press("Change my number", "code", code, "new_code", wrongCode(newCode))
	b.wantFault("new_code", "You have 4 tries left.")
	b.press("Send both codes again")
	b.wantLimit("code", "A code was asked for a moment ago.")
	b.open("/coach/settings/number/codes")
	form := b.keep()
	for range 2 {
		b.restore(form)
		b.press("Change my number", "code", code, "new_code", newCode)
		b.wantText("Your number is changed. From now on you sign in with +91 98123 45691.")
	}
	user.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
	if same := s.SignIn(t, "coach", newNumber); same.ID != user.ID {
		t.Error("the new number signs in to another account")
	}
	if b.open("/coach/settings/number/codes"); b.path() != "/coach/settings?done=number" {
		t.Errorf("after the change the page of the codes leads to %s", b.path())
	}
	s.Clock.Skip(16 * time.Minute)
	if b.open("/coach/settings/number/codes"); b.path() != "/coach/settings/number" {
		t.Errorf("an expired change leads to %s", b.path())
	}
}

// TestCoachClosesAccount closes the account with a code. The second of two equal forms does
// not lead to a sign-in, which would register a new account.
func TestCoachClosesAccount(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	user := s.Coach(t, coachNumber)
	player := user.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
	guardian := s.SignIn(t, "guardian", guardianNumber)
	guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "approved"}).Want(t, 200)
	b := newPhone(t, s.URL)
	b.signIn(s, "coach", coachNumber)
	b.open("/coach/settings")
	b.press("Close my account")
	b.wantText("This cannot be undone.")
	b.screenshot("close-account")
	sent := s.Sent(coachNumber, "otp")
	b.press("Send me a code")
	code := s.OTP(coachNumber, sent)
	b.press("Close my account for ever", "code", "12")
	b.wantFault("code", "Enter the 6 digits of the code.")
	b.press("Close my account for ever", "code", wrongCode(code))
	b.wantFault("code", "You have 4 tries left.")
	b.press("Send the code again")
	b.wantLimit("code", "A code was asked for a moment ago.")
	user.Call(t, "GET", "/api/me", nil).Want(t, 200)
	b.open("/coach/settings/close/code")
	form := b.keep()
	b.press("Close my account for ever", "code", code)
	b.wantHeading("Your account is closed")
	b.screenshot("account-closed")
	if b.cookie("touchline-coach") != "" || b.cookie("touchline-device-coach") != "" {
		t.Error("the browser keeps cookies of the closed account")
	}
	user.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
	b.restore(form)
	b.press("Close my account for ever", "code", code)
	b.wantHeading("You are signed out")
	if left := guardian.Call(t, "GET", "/api/me/players", nil).Items(); len(left) != 0 {
		t.Errorf("the guardian still has %v", left)
	}
}
