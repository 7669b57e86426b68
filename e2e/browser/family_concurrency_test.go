package browser_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// A sign-in that waited too long begins again where it began.
func TestExpiredSignIn(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := newPhone(t, s.URL)
		b.open(f.link)
		b.press("Answer")
		code := s.OTP(guardianNumber, 0)
		s.Clock.Advance(16 * time.Minute)
		b.press("Continue", "code", code)
		b.wantHeading("May the Touchline app serve you about Asha Rao?")
		if b.path() != f.link {
			t.Errorf("an expired sign-in leads to %s, want the link", b.path())
		}
		b.open("/sign-in/guardian?next=/me/guardian/devices")
		b.press("Send me a code", "number", guardianNumber)
		s.OTP(guardianNumber, 1)
		s.Clock.Advance(16 * time.Minute)
		b.press("Send the code again")
		b.wantHeading("Sign in as a parent or guardian")
		sent := s.Sent(guardianNumber, "otp")
		b.press("Send me a code", "number", guardianNumber)
		b.press("Continue", "code", s.OTP(guardianNumber, sent))
		b.wantHeading("Where you are signed in")
	})
}

// A double tap, a reload and the back button repeat nothing.
func TestSameFormsAgain(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := newPhone(t, s.URL)
		f.answerPage(t, b)
		answer := b.keep()
		b.press("Yes, for Asha Rao", "reason", "She loves hockey.")
		check := b.keep()
		for range 3 {
			b.restore(check)
			if b.press("Say yes"); b.heading() != "You said yes for Asha Rao" {
				t.Fatalf("the same answer again leads to %s: %s", b.path(), b.words())
			}
		}
		status := f.coach.Call(t, "GET", "/api/players/approval-status/"+f.player, nil)
		if history := status.JSON["history"].([]any); len(history) != 1 {
			t.Errorf("got %d decisions, want 1", len(history))
		}
		// Back to the question, and the other answer: the page says how it stands.
		b.restore(answer)
		b.press("No, not for Asha Rao")
		b.wantText("You said yes")
		b.restore(check)
		b.press("Say yes", "action", "rejected")
		if b.status() != 409 {
			t.Errorf("another answer to the same question gets %d", b.status())
		}
		b.wantText("This was answered already", "You said yes")
		b.screenshot("answered-already")
		if got := f.state(t); got != "approved" {
			t.Errorf("the state is %s", got)
		}
		b.open("/me/guardian/players/" + f.player + "/answer")
		b.wantHeading("Asha Rao")
	})
}

// The coach changes the question while its page is open.
func TestQuestionChangesMeanwhile(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := newPhone(t, s.URL)
		f.answerPage(t, b)
		b.press("Yes, for Asha Rao")
		check := b.keep()
		request := f.coach.Call(t, "GET", "/api/players/"+f.player, nil).String("guardian_request_id")
		f.coach.Call(t, "POST", "/api/approval/requests/"+request+"/cancel", nil).Want(t, 200)
		b.press("Say yes")
		b.wantText("There is no open question any more", "No open question")
		b.screenshot("question-cancelled")
		if b.status() != 409 || f.state(t) != "pending" {
			t.Errorf("an answer to a cancelled question gets %d, the state is %s", b.status(), f.state(t))
		}
		f.coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": f.player}).Want(t, 201)
		b.restore(check)
		b.press("Say yes")
		b.wantText("The coach has changed the question meanwhile", "Answer for Asha Rao")
		b.screenshot("question-changed")
		if b.status() != 409 || f.state(t) != "pending" {
			t.Errorf("an answer to an older question gets %d, the state is %s", b.status(), f.state(t))
		}
		f.coach.Call(t, "DELETE", "/api/players/"+f.player, nil).Want(t, 204)
		b.restore(check)
		if b.press("Say yes"); b.status() != 404 && !strings.HasPrefix(b.path(), "/sign-in/guardian") {
			t.Errorf("an answer about a removed player gets %d at %s", b.status(), b.path())
		}
	})
}

// TestYesNamesItsQuestion sends yes without its question, which changes nothing: it may be meant for
// an older one. A yes without a recent OTP may only be repeated: the coach may ask a new question
// between the check of the state and the decision.
func TestYesNamesItsQuestion(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		added := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		request := added.String("guardian_request_id")
		guardian := newVisitor(t, s.URL)
		guardian.account = s.SignIn(t, "guardian", guardianNumber).ID
		s.Clock.Skip(2 * time.Minute) // past OTP_RESEND_AFTER
		guardian.signIn(s, "guardian", guardianNumber)
		decide := "/me/guardian/players/" + added.String("player_id") + "/decide"
		guardian.post(decide, "action", "approved").want(200, "May the Touchline app serve you about Asha Rao?")
		if got := coach.Call(t, "GET", "/api/players/"+added.String("player_id"), nil).String("guardian_state"); got != "pending" {
			t.Errorf("a yes without its question made the state %s", got)
		}
		guardian.post(decide, "action", "approved", "request", request).want(200, "The coach was told")
		s.Clock.Skip(16 * time.Minute)
		guardian.post(decide, "action", "approved", "request", request).want(200, "The coach was told")
		guardian.post(decide, "action", "approved").want(409, "This was answered already")
	})
}

// A session that ended elsewhere: the page is offered again, with the reason.
func TestReasonSurvivesSignIn(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := newPhone(t, s.URL)
		f.answerPage(t, b)
		reason := strings.Repeat("😀", 499) + "<"
		s.SignIn(t, "guardian", guardianNumber).Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
		b.press("No, not for Asha Rao", "reason", reason)
		if !strings.HasPrefix(b.path(), "/sign-in/guardian") {
			t.Fatalf("a form without a session leads to %s", b.path())
		}
		sent := s.Sent(guardianNumber, "otp")
		b.press("Send me a code", "number", guardianNumber)
		b.press("Continue", "code", s.OTP(guardianNumber, sent))
		b.wantHeading("May the Touchline app serve you about Asha Rao?")
		if got := b.value("reason"); got != reason {
			t.Errorf("the reason is %q after the sign-in", got)
		}
		b.press("No, not for Asha Rao")
		s.SignIn(t, "guardian", guardianNumber).Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
		b.press("Say no")
		sent = s.Sent(guardianNumber, "otp")
		b.press("Send me a code", "number", guardianNumber)
		b.press("Continue", "code", s.OTP(guardianNumber, sent))
		b.press("No, not for Asha Rao")
		b.press("Say no")
		b.wantHeading("You said no for Asha Rao")
		status := f.coach.Call(t, "GET", "/api/players/approval-status/"+f.player, nil)
		if got := status.JSON["history"].([]any)[0].(map[string]any)["reason"]; got != reason {
			t.Errorf("the coach reads the reason %q", got)
		}
		if b.cookie("touchline-draft") != "" {
			t.Error("the draft is kept after the answer")
		}
	})
}

// Two phones answer at once: one answer counts, and the other page says how it stands.
func TestTwoPhonesAtOnce(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		phones := []*phone{newPhone(t, s.URL), newPhone(t, s.URL)}
		for i, button := range []string{"Yes, for Asha Rao", "No, not for Asha Rao"} {
			f.answerPage(t, phones[i])
			phones[i].press(button)
		}
		var wait sync.WaitGroup
		for i, button := range []string{"Say yes", "Say no"} {
			wait.Go(func() { phones[i].press(button) })
		}
		wait.Wait()
		states := []string{"approved", "rejected"}
		says := []string{"You said yes", "You said no"}
		won := 0
		if f.state(t) == states[1] {
			won = 1
		}
		if got := phones[won]; got.status() != 200 || !strings.HasPrefix(got.heading(), says[won]) {
			t.Errorf("the state is %s, but that phone shows %d %q", states[won], got.status(), got.heading())
		}
		if got := phones[1-won]; got.status() != 409 || !strings.Contains(got.words(), says[won]) {
			t.Errorf("the state is %s, but the other phone shows %d:\n%s", states[won], got.status(), got.words())
		}
		history := f.coach.Call(t, "GET", "/api/players/approval-status/"+f.player, nil).JSON["history"].([]any)
		if len(history) != 1 {
			t.Errorf("got %d decisions, want 1", len(history))
		}
	}, touchlinetest.ManyConnections)
}
