package browser_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/touchlinetest"
)

// A sign-in that waited too long begins again where it began.
func TestExpiredSignIn(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := f.browser
		b.Open(f.link)
		b.Press("Answer")
		code := s.OTP(guardianNumber, 0)
		s.Clock.Advance(16 * time.Minute)
		b.Press("Continue", "code", code)
		wantHeading(t, b, "May the Touchline app serve you about Asha Rao?")
		if b.Page.Path != f.link {
			t.Errorf("an expired sign-in leads to %s, want the link", b.Page.Path)
		}
		b.Open("/sign-in/guardian?next=/me/guardian/devices")
		b.Press("Send me a code", "number", guardianNumber)
		s.OTP(guardianNumber, 1)
		s.Clock.Advance(16 * time.Minute)
		b.Press("Send the code again")
		wantHeading(t, b, "Sign in as a parent or guardian")
		sent := s.Sent(guardianNumber, "otp")
		b.Press("Send me a code", "number", guardianNumber)
		b.Press("Continue", "code", s.OTP(guardianNumber, sent))
		wantHeading(t, b, "Where you are signed in")
	})
}

// A double tap, a reload and the back button repeat nothing.
func TestSameFormsAgain(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := f.browser
		f.answerPage(t, b)
		answer := *b.Page
		b.Press("Yes, for Asha Rao", "reason", "She loves hockey.")
		check := *b.Page
		for range 3 {
			b.Page = &check
			if b.Press("Say yes"); b.Page.Heading() != "You said yes for Asha Rao" {
				t.Fatalf("the same answer again leads to %s: %s", b.Page.Path, b.Page.Text())
			}
		}
		status := f.coach.Call(t, "GET", "/api/players/approval-status/"+f.player, nil)
		if history := status.JSON["history"].([]any); len(history) != 1 {
			t.Errorf("got %d decisions, want 1", len(history))
		}
		// Back to the question, and the other answer: the page says how it stands.
		b.Page = &answer
		b.Press("No, not for Asha Rao")
		wantText(t, b, "You said yes")
		b.Page = &check
		b.Press("Say yes", "action", "rejected")
		if b.Page.Status != 409 {
			t.Errorf("another answer to the same question gets %d", b.Page.Status)
		}
		wantText(t, b, "This was answered already", "You said yes")
		if got := f.state(t); got != "approved" {
			t.Errorf("the state is %s", got)
		}
		b.Open("/me/guardian/players/" + f.player + "/answer")
		wantHeading(t, b, "Asha Rao")
	})
}

// The coach changes the question while its page is open.
func TestQuestionChangesMeanwhile(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := f.browser
		f.answerPage(t, b)
		b.Press("Yes, for Asha Rao")
		check := *b.Page
		request := f.coach.Call(t, "GET", "/api/players/"+f.player, nil).String("guardian_request_id")
		f.coach.Call(t, "POST", "/api/approval/requests/"+request+"/cancel", nil).Want(t, 200)
		b.Press("Say yes")
		wantText(t, b, "There is no open question any more", "No open question")
		if b.Page.Status != 409 || f.state(t) != "pending" {
			t.Errorf("an answer to a cancelled question gets %d, the state is %s", b.Page.Status, f.state(t))
		}
		f.coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": f.player}).Want(t, 201)
		b.Page = &check
		b.Press("Say yes")
		wantText(t, b, "The coach has changed the question meanwhile", "Answer for Asha Rao")
		if b.Page.Status != 409 || f.state(t) != "pending" {
			t.Errorf("an answer to an older question gets %d, the state is %s", b.Page.Status, f.state(t))
		}
		f.coach.Call(t, "DELETE", "/api/players/"+f.player, nil).Want(t, 204)
		b.Page = &check
		if b.Press("Say yes"); b.Page.Status != 404 && !strings.HasPrefix(b.Page.Path, "/sign-in/guardian") {
			t.Errorf("an answer about a removed player gets %d at %s", b.Page.Status, b.Page.Path)
		}
	})
}

// A session that ended elsewhere: the page is offered again, with the reason.
func TestReasonSurvivesSignIn(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := f.browser
		f.answerPage(t, b)
		reason := strings.Repeat("😀", 499) + "<"
		s.SignIn(t, "guardian", guardianNumber).Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
		b.Press("No, not for Asha Rao", "reason", reason)
		if !strings.HasPrefix(b.Page.Path, "/sign-in/guardian") {
			t.Fatalf("a form without a session leads to %s", b.Page.Path)
		}
		sent := s.Sent(guardianNumber, "otp")
		b.Press("Send me a code", "number", guardianNumber)
		b.Press("Continue", "code", s.OTP(guardianNumber, sent))
		wantHeading(t, b, "May the Touchline app serve you about Asha Rao?")
		if got := b.Page.Value("reason"); got != reason {
			t.Errorf("the reason is %q after the sign-in", got)
		}
		b.Press("No, not for Asha Rao")
		s.SignIn(t, "guardian", guardianNumber).Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
		b.Press("Say no")
		sent = s.Sent(guardianNumber, "otp")
		b.Press("Send me a code", "number", guardianNumber)
		b.Press("Continue", "code", s.OTP(guardianNumber, sent))
		b.Press("No, not for Asha Rao")
		b.Press("Say no")
		wantHeading(t, b, "You said no for Asha Rao")
		status := f.coach.Call(t, "GET", "/api/players/approval-status/"+f.player, nil)
		if got := status.JSON["history"].([]any)[0].(map[string]any)["reason"]; got != reason {
			t.Errorf("the coach reads the reason %q", got)
		}
		if b.Cookie("touchline-draft") != "" {
			t.Error("the draft is kept after the answer")
		}
	})
}

// Two phones answer at once: one answer counts, and the other page says how it stands.
func TestTwoPhonesAtOnce(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		phones := []*touchlinetest.Browser{s.Browser(t), s.Browser(t)}
		for i, button := range []string{"Yes, for Asha Rao", "No, not for Asha Rao"} {
			f.answerPage(t, phones[i])
			phones[i].Press(button)
		}
		var wait sync.WaitGroup
		for i, button := range []string{"Say yes", "Say no"} {
			wait.Go(func() { phones[i].Press(button) })
		}
		wait.Wait()
		states := []string{"approved", "rejected"}
		says := []string{"You said yes", "You said no"}
		won := 0
		if f.state(t) == states[1] {
			won = 1
		}
		if got := phones[won].Page; got.Status != 200 || !strings.HasPrefix(got.Heading(), says[won]) {
			t.Errorf("the state is %s, but that phone shows %d %q", states[won], got.Status, got.Heading())
		}
		if got := phones[1-won].Page; got.Status != 409 || !strings.Contains(got.Text(), says[won]) {
			t.Errorf("the state is %s, but the other phone shows %d:\n%s", states[won], got.Status, got.Text())
		}
		history := f.coach.Call(t, "GET", "/api/players/approval-status/"+f.player, nil).JSON["history"].([]any)
		if len(history) != 1 {
			t.Errorf("got %d decisions, want 1", len(history))
		}
	})
}
