package browser_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

func TestWrongCodes(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := newPhone(t, s.URL)
		b.open(f.link)
		b.press("Answer")
		right := s.OTP(guardianNumber, 0)
		wrong := "000000"
		if right == wrong {
			wrong = "000001"
		}
		for _, tt := range []struct{ code, want string }{
			{"", "Enter the 6 digits of the code."},
			{"12345", "Enter the 6 digits of the code."},
			{"<script>", "Enter the 6 digits of the code."},
			{wrong, "This code is not right. Look at it again. You have 4 tries left."},
			{wrong, "You have 3 tries left."},
			{wrong, "You have 2 tries left."},
			{wrong, "You have 1 try left."},
			{wrong, "That was the last try. Ask for a new code."},
			{right, "There were too many wrong codes."},
		} {
			b.press("Continue", "code", tt.code)
			status := 422
			if tt.code == right {
				status = 429
			}
			if b.status() != status || !strings.Contains(b.words(), tt.want) {
				t.Errorf("the code %q gets %d, want %q:\n%s", tt.code, b.status(), tt.want, b.words())
			}
		}
		s.Clock.Advance(time.Minute)
		b.press("Send the code again")
		b.wantText("We sent the code again.")
		b.screenshot("code-again")
		// Devanagari digits, with spaces.
		typed := strings.Map(func(r rune) rune { return r - '0' + '०' }, s.OTP(guardianNumber, 1))
		b.press("Continue", "code", " "+typed[:9]+" "+typed[9:])
		b.wantHeading("May the Touchline app serve you about Asha Rao?")
	})
}

func TestFormsOfAnotherAccount(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		const otherNumber = "+919812345690"
		other := touchlinetest.Minor(otherNumber, "")
		other["student"].(map[string]any)["full_name"] = "Bela Rao"
		f.coach.AddPlayer(t, other)
		otherLink := linkTo(t, s, otherNumber, 0)

		b := newPhone(t, s.URL)
		f.answerPage(t, b)
		b.press("Yes, for Asha Rao")
		check := b.keep()
		// A link for another number asks for a code to that number.
		b.open(otherLink)
		b.wantHeading("May the Touchline app serve you about Bela Rao?")
		b.press("Answer")
		b.wantText("•••• 5690")
		b.press("Continue", "code", s.OTP(otherNumber, 0))
		b.wantHeading("May the Touchline app serve you about Bela Rao?")
		b.restore(check)
		b.press("Say yes")
		b.wantHeading("You are signed in with another number")
		b.screenshot("other-account")
		if b.status() != 409 || f.state(t) != "pending" {
			t.Errorf("a form of another account gets %d, the state is %s", b.status(), f.state(t))
		}
		if b.open("/me/guardian/players/" + f.player); b.status() != 404 {
			t.Errorf("the page of another account's child gets %d", b.status())
		}
	})
}

func TestReasonLength(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := newPhone(t, s.URL)
		f.answerPage(t, b)
		long, fits := strings.Repeat("नी", 251), strings.Repeat("नी", 250)
		for _, button := range []string{"No, not for Asha Rao", "Say no"} {
			b.press(button, "reason", long)
			if b.status() != 422 || b.value("reason") != long {
				t.Fatalf("%s: a reason of 502 characters gets %d and is %d bytes long after it", button, b.status(), len(b.value("reason")))
			}
			b.wantText("This is too long. Make it shorter.")
			b.press(button, "reason", fits)
		}
		b.wantHeading("You said no for Asha Rao")
		if got := f.state(t); got != "rejected" {
			t.Errorf("the state is %s", got)
		}
	})
}

// A yes needs a code of the last 15 minutes; a no and taking a yes back do not.
func TestApprovingNeedsRecentCode(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := newPhone(t, s.URL)
		b.signIn(s, "guardian", guardianNumber, "remember", "yes")
		s.Clock.Advance(14 * time.Minute)
		b.press("Answer for Asha Rao")
		b.press("Yes, for Asha Rao", "reason", "Yes!")
		check := b.keep()
		s.Clock.Advance(2 * time.Minute)
		sent := s.Sent(guardianNumber, "otp")
		b.press("Say yes")
		b.wantHeading("Enter the code")
		if got := f.state(t); got != "pending" {
			t.Fatalf("a code of 16 minutes ago approved: %s", got)
		}
		b.press("Continue", "code", s.OTP(guardianNumber, sent))
		if got := b.value("reason"); got != "Yes!" {
			t.Errorf("the reason is %q after the code", got)
		}
		b.press("Yes, for Asha Rao")
		b.press("Say yes")
		b.wantHeading("You said yes for Asha Rao")

		s.Clock.Advance(24 * time.Hour) // the new session lasts 30 days, like the old one
		b.press("See Asha Rao")
		b.press("Change: Take my yes back")
		b.press("Take my yes back")
		b.wantHeading("You took your yes back for Asha Rao")
		b.wantText("Ask the coach to send the question again.") // only a new question changes this answer
		f.coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": f.player}).Want(t, 201)
		b.open("/me/guardian/players/" + f.player + "/answer")
		b.press("No, not for Asha Rao")
		b.press("Say no")
		b.wantHeading("You said no for Asha Rao")
		b.restore(check)
		b.press("Say yes")
		if b.status() != 409 || f.state(t) != "rejected" {
			t.Errorf("the older form gets %d, the state is %s", b.status(), f.state(t))
		}
		b.open("/me/guardian/devices")
		if strings.Contains(b.words(), "Sign this one out") {
			t.Error("the replaced session is still signed in")
		}
	}, func(c *config.Config) { c.AccessTokenLifetime = 48 * time.Hour }) // the coach stays signed in
}

// Names that try to be HTML, links, offers of money or commands stay text: in the pages as the
// service sends them, and in two of them as Chromium has them.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		b := newPhone(t, s.URL)
		for i, name := range []string{`<script>alert(1)</script> Rao`, `"><img src=x onerror=alert(1)>`, "{{.Brand}} Rao", "Win Rs 5000 at https://evil.example/x", strings.Repeat("Venkatanarasimha", 6)} {
			number := fmt.Sprint("+91981234570", i)
			body := touchlinetest.Minor(number, "")
			body["student"].(map[string]any)["full_name"] = name
			player := coach.AddPlayer(t, body).String("player_id")
			link := strings.TrimPrefix(linkTo(t, s, number, 0), s.URL)
			answerPage := "/me/guardian/players/" + player + "/answer"
			family := newVisitor(t, s.URL)
			family.signIn(s, "guardian", number)
			var pages []answer
			for _, path := range []string{link, "/me/guardian", "/me/guardian/players/" + player, answerPage, "/me/guardian/players/" + player + "/not-me", "/me/guardian/messages"} {
				pages = append(pages, family.get(path))
			}
			pages = append(pages, b.get(link))
			if i < 2 { // HTML that would run a script
				s.Clock.Skip(2 * time.Minute) // past OTP_RESEND_AFTER
				b.signIn(s, "guardian", number)
				pages = append(pages, b.get(answerPage))
			}
			for _, page := range pages {
				if page.status != 200 {
					t.Errorf("%s gets %d for the name %q", page.path, page.status, name)
				}
				for _, bad := range []string{"<script>alert", "<img src=x", "evil.example", "onerror=alert(1)>"} {
					if strings.Contains(page.raw, bad) {
						t.Errorf("%s contains %q for the name %q", page.path, bad, name)
					}
				}
			}
		}
	})
}

// TestCodeForYesAfterLink waits on the answer page until the code of the link is too old. The next
// page names the number to which the new code went, and leads back to the question.
func TestCodeForYesAfterLink(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := newPhone(t, s.URL)
		f.answerPage(t, b)
		s.Clock.Advance(16 * time.Minute)
		b.press("Yes, for Asha Rao")
		b.wantHeading("Enter the code")
		b.wantText("We sent an SMS with a code to ••••")
		if text := b.words(); strings.Contains(text, "Enter another number") {
			t.Errorf("a signed-in caller is asked for another number:\n%s", text)
		}
		s.Clock.Advance(16 * time.Minute)
		b.press("Continue", "code", "123456") // too late: the page begins again
		b.wantHeading("May the Touchline app serve you about Asha Rao?")
	})
}
