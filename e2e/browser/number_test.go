package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/storetest"
	"github.com/touchline/touchline/internal/touchlinetest"
)

// wantFault fails the test unless the page has the status 422 and the text next to a field.
func wantFault(t *testing.T, b *touchlinetest.Browser, field, text string) {
	t.Helper()
	_, after, ok := strings.Cut(b.Page.Body, `id="`+field+`-fault"`)
	fault, _, _ := strings.Cut(after, "</p>")
	if b.Page.Status != 422 || !ok || !strings.Contains(fault, text) {
		t.Errorf("%s: got status %d and at the field %s %q, want %q:\n%s", b.Page.Path, b.Page.Status, field, fault, text, b.Page.Text())
	}
}

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
	b := s.Browser(t)
	signIn(t, s, b, "coach", coachNumber)
	b.Open("/coach/settings")
	b.Press("Change my number")
	for number, fault := range map[string]string{"12": "Enter a mobile number", coachNumber: "This is your number already."} {
		b.Press("Send both codes", "number", number)
		wantFault(t, b, "number", fault)
		if got := b.Page.Value("number"); got != number {
			t.Errorf("the field has %q after a fault, want %q", got, number)
		}
	}
	// begin asks for codes and returns them.
	begin := func(number string) (code, newCode string) {
		t.Helper()
		sent, sentNew := s.Sent(coachNumber, "otp"), s.Sent(number, "otp")
		b.Open("/coach/settings/number")
		b.Press("Send both codes", "number", number)
		wantHeading(t, b, "Enter both codes")
		return s.OTP(coachNumber, sent), s.OTP(number, sentNew)
	}
	for number, fault := range map[string]string{guardianNumber: "A family of yours has this number.", "+919812345692": "A coach with this number is registered already."} {
		code, newCode := begin(number)
		b.Press("Change my number", "code", code, "new_code", newCode)
		wantFault(t, b, "number", fault)
		s.Clock.Skip(61 * time.Second)
	}
	code, newCode := begin(newNumber)
	b.Press("Change my number", "code", "1", "new_code", "")
	wantFault(t, b, "code", "Enter the 6 digits of the code.")
	wantFault(t, b, "new_code", "Enter the 6 digits of the code.")
	b.Press("Change my number", "code", wrongCode(code), "new_code", newCode)
	wantFault(t, b, "code", "You have 4 tries left.")
	if got := b.Page.Value("new_code"); got != newCode {
		t.Errorf("the other code is %q after a fault, want %q", got, newCode)
	}
	b.Press("Change my number", "code", code, "new_code", wrongCode(newCode))
	wantFault(t, b, "new_code", "You have 4 tries left.")
	b.Press("Send both codes again")
	wantFault(t, b, "code", "We sent a code a moment ago.")
	b.Open("/coach/settings/number/codes")
	form := *b.Page
	for range 2 {
		b.Page = &form
		b.Press("Change my number", "code", code, "new_code", newCode)
		wantText(t, b, "Your number is changed. From now on you sign in with +91 98123 45691.")
	}
	user.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
	if same := s.SignIn(t, "coach", newNumber); same.ID != user.ID {
		t.Error("the new number signs in to another account")
	}
	if b.Open("/coach/settings/number/codes"); b.Page.Path != "/coach/settings?done=number" {
		t.Errorf("after the change the page of the codes leads to %s", b.Page.Path)
	}
	s.Clock.Skip(16 * time.Minute)
	if b.Open("/coach/settings/number/codes"); b.Page.Path != "/coach/settings/number" {
		t.Errorf("an expired change leads to %s", b.Page.Path)
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
	b := s.Browser(t)
	signIn(t, s, b, "coach", coachNumber)
	b.Open("/coach/settings")
	b.Press("Close my account")
	wantText(t, b, "This cannot be undone.")
	sent := s.Sent(coachNumber, "otp")
	b.Press("Send me a code")
	code := s.OTP(coachNumber, sent)
	b.Press("Close my account for ever", "code", "12")
	wantFault(t, b, "code", "Enter the 6 digits of the code.")
	b.Press("Close my account for ever", "code", wrongCode(code))
	wantFault(t, b, "code", "You have 4 tries left.")
	b.Press("Send the code again")
	wantFault(t, b, "code", "We sent a code a moment ago.")
	user.Call(t, "GET", "/api/me", nil).Want(t, 200)
	b.Open("/coach/settings/close/code")
	form := *b.Page
	b.Press("Close my account for ever", "code", code)
	wantHeading(t, b, "Your account is closed")
	if b.Cookie("touchline-coach") != "" || b.Cookie("touchline-device-coach") != "" {
		t.Error("the browser keeps cookies of the closed account")
	}
	user.Call(t, "GET", "/api/me", nil).Want(t, 401, "session_revoked")
	b.Page = &form
	b.Press("Close my account for ever", "code", code)
	wantHeading(t, b, "You are signed out")
	if left := guardian.Call(t, "GET", "/api/me/players", nil).Items(); len(left) != 0 {
		t.Errorf("the guardian still has %v", left)
	}
}
