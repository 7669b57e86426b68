package browser_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// family is a coach with one player, and a browser of the guardian.
type family struct {
	*touchlinetest.Service
	coach  *touchlinetest.User
	player string
	// link is the path of the guardian's link.
	link    string
	browser *touchlinetest.Browser
}

// newFamily adds a player with a guardian and a student.
func newFamily(t *testing.T, s *touchlinetest.Service) *family {
	t.Helper()
	coach := s.Coach(t, coachNumber)
	player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	return &family{
		Service: s, coach: coach, player: player,
		link: strings.TrimPrefix(linkTo(t, s, guardianNumber, 0), s.URL), browser: s.Browser(t),
	}
}

// answerPage opens the link, signs in with the code and ends at the answer.
func (f *family) answerPage(t *testing.T, p *phone) {
	t.Helper()
	sent := f.Sent(guardianNumber, "otp")
	p.open(f.link)
	p.press("Answer")
	p.press("Continue", "code", f.OTP(guardianNumber, sent))
	p.wantHeading("May the Touchline app serve you about Asha Rao?")
}

// signIn signs in at the start page, without a real browser.
func signIn(t *testing.T, s *touchlinetest.Service, b *touchlinetest.Browser, role, number string, fields ...string) {
	t.Helper()
	sent := s.Sent(number, "otp")
	b.Open("/sign-in/" + role)
	b.Press("Send me a code", append(fields, "number", number)...)
	b.Press("Continue", "code", s.OTP(number, sent))
}

func (f *family) state(t *testing.T) string {
	t.Helper()
	return f.coach.Call(t, "GET", "/api/players/"+f.player, nil).Want(t, 200).String("guardian_state")
}

func wantHeading(t *testing.T, b *touchlinetest.Browser, want string) {
	t.Helper()
	if got := b.Page.Heading(); got != want {
		t.Fatalf("%s has the heading %q, want %q:\n%s", b.Page.Path, got, want, b.Page.Text())
	}
}

func wantText(t *testing.T, b *touchlinetest.Browser, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(b.Page.Text(), part) {
			t.Errorf("%s does not say %q:\n%s", b.Page.Path, part, b.Page.Text())
		}
	}
}

func TestMyPermissions(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		newFamily(t, s)
		b := newPhone(t, s.URL)
		b.signIn(s, "guardian", guardianNumber)
		b.wantHeading("Your family")
		b.wantText("Waiting for your answer", "Messages 1 new")

		b.press("Messages 1 new")
		b.wantText("Your answer is needed", "New")
		b.screenshot("family-messages")
		b.press("Mark all as read")
		if strings.Contains(b.words(), "Mark all as read") {
			t.Errorf("messages are unread after marking: %s", b.words())
		}
		b.press("Open")
		b.wantHeading("Asha Rao")

		other := newPhone(t, s.URL)
		other.signIn(s, "guardian", guardianNumber)
		b.open("/me/guardian/devices")
		b.wantText("This device", "Sign this one out")
		b.screenshot("devices")
		var button string // it names the browser
		b.script(`[...document.querySelectorAll('main button')].map((e) => e.textContent.trim().replace(/\s+/g, ' ')).find((text) => text.startsWith('Sign this one out'))`, &button)
		b.press(button)
		b.wantText("That device is signed out.")
		if other.open("/me/guardian"); !strings.HasPrefix(other.path(), "/sign-in/guardian") {
			t.Errorf("an ended session opens %s", other.path())
		}
		other.signIn(s, "guardian", guardianNumber)
		b.open("/me/guardian/devices")
		b.press("Sign out everywhere")
		if other.open("/me/guardian"); !strings.HasPrefix(other.path(), "/sign-in/guardian") {
			t.Errorf("after signing out everywhere another browser opens %s", other.path())
		}
	})
}

func TestDisputeWhenSignedIn(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := newPhone(t, s.URL)
		f.answerPage(t, b)
		b.press("This isn’t me")
		b.wantHeading("Is this question not for you?")
		b.screenshot("not-me")
		if got := f.state(t); got != "pending" {
			t.Fatalf("the confirmation changed the state to %s", got)
		}
		confirm := b.keep()
		b.press("Yes, this isn’t me")
		b.wantText("You said that this is not you")
		first := b.path()
		b.restore(confirm)
		if b.press("Yes, this isn’t me"); b.status() != 200 || b.path() != first {
			t.Errorf("the same form again leads to %s with %d, want %s", b.path(), b.status(), first)
		}
		f.coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": f.player}).Want(t, 409, "contact_disputed")

		// The dispute remains when the coach removes the player, and the party can end it.
		f.coach.Call(t, "DELETE", "/api/players/"+f.player, nil).Want(t, 204)
		b = newPhone(t, s.URL)
		b.open("/a/not-me")
		if b.press("Sign in"); b.path() != "/sign-in/family" {
			t.Errorf("the page after a dispute leads to %s", b.path())
		}
		b.signIn(s, "guardian", guardianNumber)
		b.press("Questions that were not for you")
		b.wantText("A player", "With Meera Nair")
		b.screenshot("disputes")
		b.press("It was for me after all")
		b.press("Yes, it was for me")
		b.wantHeading("The coach may ask you again")
		f.coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
	})
}

// A dispute that is lifted while the request still fits opens the question again.
func TestLiftDisputeOpensQuestion(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := newPhone(t, s.URL)
		b.open(f.link)
		b.press("This isn’t me")
		b.press("Yes, this isn’t me")
		b.wantHeading("Thank you. The question is closed")
		b.signIn(s, "guardian", guardianNumber)
		b.press("Questions that were not for you")
		b.press("It was for me after all")
		b.press("Yes, it was for me")
		b.press("My permissions")
		b.press("Answer for Asha Rao")
		b.press("Yes, for Asha Rao")
		b.press("Say yes")
		b.wantHeading("You said yes for Asha Rao")
	})
}

// TestOldFormKeepsLaterDispute: a form that was opened for a dispute does not end a later dispute
// of the same request.
func TestOldFormKeepsLaterDispute(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := newPhone(t, s.URL)
		b.signIn(s, "guardian", guardianNumber)
		dispute := func() {
			t.Helper()
			b.open("/me/guardian/players/" + f.player + "/not-me")
			b.press("Yes, this isn’t me")
			b.wantText("You said that this is not you")
			b.open("/me/guardian/disputes")
			b.press("It was for me after all")
		}
		dispute()
		old := b.keep()
		b.press("Yes, it was for me")
		b.wantHeading("The coach may ask you again")
		b.restore(old)
		b.press("Yes, it was for me")
		b.wantHeading("The coach may ask you again") // a double tap
		s.Clock.Advance(time.Minute)
		dispute()
		b.restore(old)
		b.press("Yes, it was for me")
		b.wantHeading("Questions that were not for you")
		f.coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": f.player}).Want(t, 409, "contact_disputed")
		b.press("It was for me after all")
		b.press("Yes, it was for me")
		b.wantHeading("The coach may ask you again")
	})
}

// A language is remembered for the number and applied where it signs in.
func TestLanguageOfNumber(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		newFamily(t, s)
		b := newPhone(t, s.URL)
		b.signIn(s, "guardian", guardianNumber)
		b.press("हिन्दी")
		b.wantHeading("आपका परिवार")
		if b.path() != "/me/guardian" {
			t.Errorf("the language leads to %s", b.path())
		}
		other := newPhone(t, s.URL)
		other.signIn(s, "guardian", guardianNumber)
		other.wantHeading("आपका परिवार")

		other.press("संदेश 1 नया")
		other.wantText("आपका जवाब चाहिए", "कोच Meera Nair ने Asha Rao को एक बैच में जोड़ा। ऐप चालू करने के लिए")

		// A language chosen before the first sign-in is saved with it.
		student := newPhone(t, s.URL)
		student.open("/")
		student.press("हिन्दी")
		student.open("/sign-in/student")
		sent := s.Sent(studentNumber, "otp")
		student.press("मुझे कोड भेजें", "number", studentNumber)
		student.press("आगे बढ़ें", "code", s.OTP(studentNumber, sent))
		got := s.SignIn(t, "student", studentNumber).Call(t, "GET", "/api/me/preferences", nil).String("language")
		if got != "hi" {
			t.Errorf("the number of the student has the language %q, want hi", got)
		}
	})
}

var ids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// Before a student approves, the pages show names and states alone.
func TestPendingStudent(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		newFamily(t, s)
		b := newPhone(t, s.URL)
		b.signIn(s, "student", studentNumber)
		b.press("Answer for Asha Rao")
		for _, path := range []string{b.path(), strings.TrimSuffix(b.path(), "/answer"), "/me/student", "/me/student/messages", "/me/student/devices", "/me/student/disputes"} {
			b.open(path)
			if b.status() != 200 {
				t.Errorf("%s answers %d", path, b.status())
			}
			html := ids.ReplaceAllString(b.html(), "") // their digits are random
			for _, secret := range []string{"Ravi", "Asthma", "2014", guardianNumber, "5680"} {
				if strings.Contains(html, secret) {
					t.Errorf("%s shows %q to a student before the approval", path, secret)
				}
			}
		}
	})
}

// A parent and a child share a phone and its number: each page says whose answer it is.
func TestTwoRolesInOneBrowser(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		body := touchlinetest.Minor(guardianNumber, guardianNumber)
		body["student"].(map[string]any)["date_of_birth"] = "2000-04-30"
		player := coach.AddPlayer(t, body).String("player_id")
		b := newPhone(t, s.URL)
		b.signIn(s, "guardian", guardianNumber)
		b.wantText("Here is each child", "Go on as student")
		b.signIn(s, "student", guardianNumber)
		b.wantText("Here is each coach")
		b.screenshot("student-permissions")
		if !strings.Contains(b.html(), `href="https://app.example/open"`) {
			t.Error("the page does not offer the app")
		}
		b.open("/me")
		b.press("Go on as student")
		b.press("Answer for Asha Rao")
		b.wantHeading("Asha Rao, may the Touchline app serve you?")
		b.press("Yes, for me")
		b.press("Say yes")
		b.open("/me/guardian")
		b.press("Answer for Asha Rao")
		b.wantText("Asha Rao is an adult. Your answer is optional.")
		b.press("No, not for Asha Rao")
		b.press("Say no")
		got := coach.Call(t, "GET", "/api/players/"+player, nil)
		if g, st := got.String("guardian_state"), got.String("student_state"); g != "rejected" || st != "approved" {
			t.Errorf("the guardian's answer is %s, the student's %s", g, st)
		}
		b.press("Sign out")
		if b.open("/me/student"); b.heading() != "Your training" {
			t.Errorf("signing out as guardian signed the student out: %s", b.heading())
		}
	}, func(c *config.Config) { c.AppURL = "https://app.example/open" })
}

// Where a minor's app waits for the guardian, the pages of the student say so.
func TestStudentWaitsForGuardian(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := newPhone(t, s.URL)
		b.signIn(s, "student", studentNumber)
		b.press("Answer for Asha Rao")
		for _, button := range []string{"Yes, for me", "Say yes", "See Asha Rao"} {
			b.press(button)
			b.wantText("The app services start when your parent or guardian has said yes, too.")
		}
		b.wantText("These app services are off for you")
		s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": f.player, "action": "approved"}).Want(t, 200)
		b.open(b.path())
		b.wantText("These app services are on for you")
	}, func(c *config.Config) { c.RequireGuardianForMinors = true })
}

// The pages of a question list the app services that the tier of the coach has.
func TestQuestionListsServicesOfTier(t *testing.T) {
	t.Parallel()
	tiers := withTiers(t, `{"tiers": [
		{"name": "free", "title": "Free", "self_service": true, "features": ["roster", "fee_reminders"]},
		{"name": "full", "title": "Full", "self_service": true}
	]}`)
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		wantServices := func(count int) {
			t.Helper()
			b := newPhone(t, s.URL)
			b.open(f.link)
			b.wantText("Fee reminders.")
			if got := strings.Count(b.html(), "For example"); got != count {
				t.Errorf("the question lists %d services, want %d:\n%s", got, count, b.words())
			}
		}
		wantServices(1)
		f.coach.Call(t, "PUT", "/api/coach/subscription", map[string]any{"tier": "full"}).Want(t, 200)
		wantServices(6)
	}, tiers)
}
