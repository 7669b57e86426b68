package browser_test

import (
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/touchlinetest"
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
func (f *family) answerPage(t *testing.T, b *touchlinetest.Browser) {
	t.Helper()
	sent := f.Sent(guardianNumber, "otp")
	b.Open(f.link)
	b.Press("Answer")
	b.Press("Continue", "code", f.OTP(guardianNumber, sent))
	wantHeading(t, b, "May the Touchline app serve you about Asha Rao?")
}

// signIn signs in at the start page.
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
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := f.browser
		signIn(t, s, b, "guardian", guardianNumber)
		wantHeading(t, b, "My permissions")
		wantText(t, b, "Waiting for your answer", "Messages 1 new")

		b.Press("Messages 1 new")
		wantText(t, b, "Your answer is needed", "New")
		b.Press("Mark all as read")
		if strings.Contains(b.Page.Text(), "Mark all as read") {
			t.Errorf("messages are unread after marking: %s", b.Page.Text())
		}
		b.Press("Open")
		wantHeading(t, b, "Asha Rao")

		other := s.Browser(t)
		signIn(t, s, other, "guardian", guardianNumber)
		b.Open("/me/guardian/devices")
		wantText(t, b, "This device", "Sign this one out")
		b.Press("Sign this one out: Browser")
		wantText(t, b, "That device is signed out.")
		if other.Open("/me/guardian"); !strings.HasPrefix(other.Page.Path, "/sign-in/guardian") {
			t.Errorf("an ended session opens %s", other.Page.Path)
		}
		signIn(t, s, other, "guardian", guardianNumber)
		b.Open("/me/guardian/devices")
		b.Press("Sign out everywhere")
		if other.Open("/me/guardian"); !strings.HasPrefix(other.Page.Path, "/sign-in/guardian") {
			t.Errorf("after signing out everywhere another browser opens %s", other.Page.Path)
		}
	})
}

func TestDisputeWhenSignedIn(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := f.browser
		f.answerPage(t, b)
		b.Press("This isn't me")
		wantHeading(t, b, "Is this question not for you?")
		if got := f.state(t); got != "pending" {
			t.Fatalf("the confirmation changed the state to %s", got)
		}
		confirm := *b.Page
		b.Press("Yes, this isn't me")
		wantText(t, b, "You said that this is not you")
		first := b.Page.Path
		b.Page = &confirm
		if b.Press("Yes, this isn't me"); b.Page.Status != 200 || b.Page.Path != first {
			t.Errorf("the same form again leads to %s with %d, want %s", b.Page.Path, b.Page.Status, first)
		}
		f.coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": f.player}).Want(t, 409, "contact_disputed")

		// The dispute remains when the coach removes the player, and the party can end it.
		f.coach.Call(t, "DELETE", "/api/players/"+f.player, nil).Want(t, 204)
		b = s.Browser(t)
		signIn(t, s, b, "guardian", guardianNumber)
		b.Press("Questions that were not for you")
		wantText(t, b, "A child", "With Meera Nair")
		b.Press("It was for me after all")
		confirm = *b.Page
		b.Press("Yes, it was for me")
		wantHeading(t, b, "The coach may ask you again")
		f.coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber))
	})
}

// A dispute that is lifted while the request still fits opens the question again.
func TestLiftDisputeOpensQuestion(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := f.browser
		b.Open(f.link)
		b.Press("This isn't me")
		b.Press("Yes, this isn't me")
		wantHeading(t, b, "Thank you. The question is closed")
		signIn(t, s, b, "guardian", guardianNumber)
		b.Press("Questions that were not for you")
		b.Press("It was for me after all")
		b.Press("Yes, it was for me")
		b.Press("My permissions")
		b.Press("Answer for Asha Rao")
		b.Press("Yes, for Asha Rao")
		b.Press("Say yes")
		wantHeading(t, b, "You said yes for Asha Rao")
	})
}

// A language is remembered for the number and applied where it signs in.
func TestLanguageOfNumber(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := f.browser
		signIn(t, s, b, "guardian", guardianNumber)
		b.Press("हिन्दी")
		wantHeading(t, b, "मेरी अनुमतियाँ")
		if b.Page.Path != "/me/guardian" {
			t.Errorf("the language leads to %s", b.Page.Path)
		}
		other := s.Browser(t)
		signIn(t, s, other, "guardian", guardianNumber)
		wantHeading(t, other, "मेरी अनुमतियाँ")

		other.Press("संदेश 1 नया")
		wantText(t, other, "आपका जवाब चाहिए", "कोच Meera Nair पूछते हैं कि क्या Asha Rao के बारे में ऐप आपके लिए काम करे।")

		// A language chosen before the first sign-in is saved with it.
		student := s.Browser(t)
		student.Open("/")
		student.Press("हिन्दी")
		student.Open("/sign-in/student")
		sent := s.Sent(studentNumber, "otp")
		student.Press("मुझे कोड भेजें", "number", studentNumber)
		student.Press("आगे बढ़ें", "code", s.OTP(studentNumber, sent))
		got := s.SignIn(t, "student", studentNumber).Call(t, "GET", "/api/me/preferences", nil).String("language")
		if got != "hi" {
			t.Errorf("the number of the student has the language %q, want hi", got)
		}
	})
}

// Before a student approves, the pages show names and states alone.
func TestPendingStudent(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		newFamily(t, s)
		b := s.Browser(t)
		signIn(t, s, b, "student", studentNumber)
		b.Press("Answer for Asha Rao")
		for _, path := range []string{b.Page.Path, strings.TrimSuffix(b.Page.Path, "/answer"), "/me/student", "/me/student/messages", "/me/student/devices", "/me/student/disputes"} {
			b.Open(path)
			if b.Page.Status != 200 {
				t.Errorf("%s answers %d", path, b.Page.Status)
			}
			for _, secret := range []string{"Ravi", "Asthma", "2014", guardianNumber, "5680"} {
				if strings.Contains(b.Page.Body, secret) {
					t.Errorf("%s shows %q to a student before the approval", path, secret)
				}
			}
		}
	})
}

// A parent and a child share a phone and its number: each page says whose answer it is.
func TestTwoRolesInOneBrowser(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		body := touchlinetest.Minor(guardianNumber, guardianNumber)
		body["student"].(map[string]any)["date_of_birth"] = "2000-04-30"
		player := coach.AddPlayer(t, body).String("player_id")
		b := s.Browser(t)
		signIn(t, s, b, "guardian", guardianNumber)
		wantText(t, b, "Here is each child", "Go on as student")
		signIn(t, s, b, "student", guardianNumber)
		wantText(t, b, "Here is each coach")
		if !strings.Contains(b.Page.Body, `href="https://app.example/open"`) {
			t.Error("the page does not offer the app")
		}
		b.Open("/me")
		b.Press("Go on as student")
		b.Press("Answer for Asha Rao")
		wantHeading(t, b, "Asha Rao, may the Touchline app serve you?")
		b.Press("Yes, for me")
		b.Press("Say yes")
		b.Open("/me/guardian")
		b.Press("Answer for Asha Rao")
		wantText(t, b, "Asha Rao is an adult. Your answer is optional.")
		b.Press("No, not for Asha Rao")
		b.Press("Say no")
		got := coach.Call(t, "GET", "/api/players/"+player, nil)
		if g, st := got.String("guardian_state"), got.String("student_state"); g != "rejected" || st != "approved" {
			t.Errorf("the guardian's answer is %s, the student's %s", g, st)
		}
		b.Press("Sign out")
		if b.Open("/me/student"); b.Page.Heading() != "My permissions" {
			t.Errorf("signing out as guardian signed the student out: %s", b.Page.Heading())
		}
	}, func(c *config.Config) { c.AppURL = "https://app.example/open" })
}

// Where a minor's app waits for the guardian, the pages of the student say so.
func TestStudentWaitsForGuardian(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := s.Browser(t)
		signIn(t, s, b, "student", studentNumber)
		b.Press("Answer for Asha Rao")
		for _, button := range []string{"Yes, for me", "Say yes", "See Asha Rao"} {
			b.Press(button)
			wantText(t, b, "The app services start when your parent or guardian has said yes, too.")
		}
		wantText(t, b, "These app services are off for you")
		s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": f.player, "action": "approved"}).Want(t, 200)
		b.Open(b.Page.Path)
		wantText(t, b, "These app services are on for you")
	}, func(c *config.Config) { c.RequireGuardianForMinors = true })
}

// The pages of a question list the app services that the tier of the coach has.
func TestQuestionListsServicesOfTier(t *testing.T) {
	t.Parallel()
	tiers := withTiers(t, `{"tiers": [
		{"name": "free", "title": "Free", "self_service": true, "features": ["roster", "fee_reminders"]},
		{"name": "full", "title": "Full", "self_service": true}
	]}`)
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		wantServices := func(count int) {
			t.Helper()
			b := s.Browser(t)
			b.Open(f.link)
			wantText(t, b, "Fee reminders.")
			if got := strings.Count(b.Page.Body, "For example"); got != count {
				t.Errorf("the question lists %d services, want %d:\n%s", got, count, b.Page.Text())
			}
		}
		wantServices(1)
		f.coach.Call(t, "PUT", "/api/coach/subscription", map[string]any{"tier": "full"}).Want(t, 200)
		wantServices(6)
	}, tiers)
}
