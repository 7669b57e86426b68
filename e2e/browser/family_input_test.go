package browser_test

import (
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/touchlinetest"
)

// Every link that is not open shows one page, byte for byte, whatever closed it.
func TestClosedLinksAreAlike(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		// question adds a player with this name and returns the link to the guardian.
		sent := 0
		question := func(name string) (player, link string) {
			body := touchlinetest.Minor(guardianNumber, "")
			body["student"].(map[string]any)["full_name"] = name
			player = coach.AddPlayer(t, body).String("player_id")
			link = strings.TrimPrefix(linkTo(t, s, guardianNumber, sent), s.URL)
			sent++
			return player, link
		}
		guardian := func() *touchlinetest.User { return s.SignIn(t, "guardian", guardianNumber) }
		links := map[string]string{"mistyped": "/a/no%20token", "long": "/a/" + strings.Repeat("x", 500), "unknown": "/a/AAAAAAAAAAAAAAAAAAAAAA"}
		player, link := question("Answered Rao")
		guardian().Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "rejected"}).Want(t, 200)
		links["answered"] = link
		player, link = question("Cancelled Rao")
		request := coach.Call(t, "GET", "/api/players/"+player, nil).String("guardian_request_id")
		coach.Call(t, "POST", "/api/approval/requests/"+request+"/cancel", nil).Want(t, 200)
		links["cancelled"] = link
		player, link = question("Deleted Rao")
		coach.Call(t, "DELETE", "/api/players/"+player, nil).Want(t, 204)
		links["deleted"] = link
		player, link = question("Corrected Rao")
		coach.Call(t, "PATCH", "/api/players/"+player, map[string]any{"guardian": map[string]any{"mobile_number": "+919812345699"}}).Want(t, 200)
		links["corrected"] = link
		_, link = question("Disputed Rao")
		b := s.Browser(t)
		b.Open(link + "/not-me")
		b.Press("Yes, this isn't me")
		links["disputed"] = link
		_, links["expired"] = question("Expired Rao")
		s.Clock.Advance(14*24*time.Hour + time.Minute)

		want := s.Browser(t).Open(links["unknown"])
		if want.Status != 404 || want.Heading() != "This question is closed" {
			t.Fatalf("got the closed link %d %q", want.Status, want.Heading())
		}
		for kind, link := range links {
			for _, path := range []string{link, link + "/later", link + "/not-me"} {
				got := s.Browser(t).Open(path)
				if got.Status != want.Status || got.Body != want.Body {
					t.Errorf("the page %s of a link that is %s differs: %d\n%s", path, kind, got.Status, got.Text())
				}
			}
			for _, form := range []string{"/answer", "/not-me"} {
				got := s.Browser(t).Send("POST", link+form, url.Values{})
				if kind != "disputed" && (got.Status != want.Status || got.Body != want.Body) {
					t.Errorf("the form %s of a link that is %s differs: %d\n%s", form, kind, got.Status, got.Text())
				}
			}
		}

		// The page leads the party that was asked to its answer, and everybody else to "My permissions".
		for kind, heading := range map[string]string{"answered": "Answered Rao", "expired": "Expired Rao", "deleted": "My permissions", "corrected": "My permissions"} {
			b := s.Browser(t)
			b.Open(links[kind])
			b.Press("Sign in")
			otps := s.Sent(guardianNumber, "otp")
			b.Press("Send me a code", "number", guardianNumber, "role", "guardian")
			b.Press("Continue", "code", s.OTP(guardianNumber, otps))
			wantHeading(t, b, heading)
			if kind == "answered" {
				wantText(t, b, "You said no")
			}
		}
	})
}

// Phones and scanners fetch links: neither GET nor HEAD changes anything.
func TestFetchingLinksChangesNothing(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		player := "/me/guardian/players/" + f.player
		signIn(t, s, f.browser, "guardian", guardianNumber)
		messages := s.Sent(guardianNumber, "otp")
		for _, path := range []string{
			f.link, f.link + "/answer", f.link + "/later", f.link + "/not-me", player, player + "/answer", player + "/answer?action=approved",
			player + "/check?action=approved", player + "/decide?action=approved", player + "/done", player + "/not-me", "/sign-out?role=guardian", "/language?to=hi",
		} {
			for _, b := range []*touchlinetest.Browser{s.Browser(t), f.browser} {
				for _, method := range []string{"GET", "HEAD"} {
					if got := b.Send(method, path, nil); got.Status >= 500 || method == "HEAD" && got.Body != "" {
						t.Errorf("%s %s: %d %q", method, path, got.Status, got.Body)
					}
				}
			}
		}
		if got := f.state(t); got != "pending" {
			t.Errorf("the state is %s", got)
		}
		if got := s.Sent(guardianNumber, "otp"); got != messages {
			t.Errorf("fetching pages sent %d codes", got-messages)
		}
		if got := f.browser.Open("/me/guardian"); got.Heading() != "My permissions" {
			t.Errorf("fetching pages signed out or changed the language: %s", got.Heading())
		}
	})
}

func TestWrongCodes(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := f.browser
		b.Open(f.link)
		b.Press("Answer")
		right := s.OTP(guardianNumber, 0)
		wrong := "000000"
		if right == wrong {
			wrong = "000001"
		}
		for _, tt := range []struct{ code, want string }{
			{"", "Enter the 6 digits of the code."},
			{"12345", "Enter the 6 digits of the code."},
			{"<script>", "Enter the 6 digits of the code."},
			{wrong, "This code is not right. Look at the SMS again. You have 4 tries left."},
			{wrong, "You have 3 tries left."},
			{wrong, "You have 2 tries left."},
			{wrong, "You have 1 try left."},
			{wrong, "That was the last try. Ask for a new code."},
			{right, "There were too many wrong codes."},
		} {
			b.Press("Continue", "code", tt.code)
			if b.Page.Status != 422 || !strings.Contains(b.Page.Text(), tt.want) {
				t.Errorf("the code %q gets %d, want %q:\n%s", tt.code, b.Page.Status, tt.want, b.Page.Text())
			}
		}
		s.Clock.Advance(time.Minute)
		b.Press("Send the code again")
		wantText(t, b, "We sent the code again.")
		// Devanagari digits, with spaces.
		typed := strings.Map(func(r rune) rune { return r - '0' + '०' }, s.OTP(guardianNumber, 1))
		b.Press("Continue", "code", " "+typed[:9]+" "+typed[9:])
		wantHeading(t, b, "May the Touchline app serve you about Asha Rao?")
	})
}

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

func TestFormsOfAnotherAccount(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		const otherNumber = "+919812345690"
		other := touchlinetest.Minor(otherNumber, "")
		other["student"].(map[string]any)["full_name"] = "Bela Rao"
		f.coach.AddPlayer(t, other)
		otherLink := linkTo(t, s, otherNumber, 0)

		b := f.browser
		f.answerPage(t, b)
		b.Press("Yes, for Asha Rao")
		check := *b.Page
		// A link for another number asks for a code to that number.
		b.Open(otherLink)
		wantHeading(t, b, "May the Touchline app serve you about Bela Rao?")
		b.Press("Answer")
		wantText(t, b, "•••• 5690")
		b.Press("Continue", "code", s.OTP(otherNumber, 0))
		wantHeading(t, b, "May the Touchline app serve you about Bela Rao?")
		b.Page = &check
		b.Press("Say yes")
		wantHeading(t, b, "You are signed in with another number")
		if b.Page.Status != 409 || f.state(t) != "pending" {
			t.Errorf("a form of another account gets %d, the state is %s", b.Page.Status, f.state(t))
		}
		if b.Open("/me/guardian/players/" + f.player); b.Page.Status != 404 {
			t.Errorf("the page of another account's child gets %d", b.Page.Status)
		}
	})
}

func TestReasonLength(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := f.browser
		f.answerPage(t, b)
		long, fits := strings.Repeat("नी", 251), strings.Repeat("नी", 250)
		for _, button := range []string{"No, not for Asha Rao", "Say no"} {
			b.Press(button, "reason", long)
			if b.Page.Status != 422 || b.Page.Value("reason") != long {
				t.Fatalf("%s: a reason of 502 characters gets %d and is %d bytes long after it", button, b.Page.Status, len(b.Page.Value("reason")))
			}
			wantText(t, b, "This is too long. Make it shorter.")
			b.Press(button, "reason", fits)
		}
		wantHeading(t, b, "You said no for Asha Rao")
		if got := f.state(t); got != "rejected" {
			t.Errorf("the state is %s", got)
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

// A yes needs a code of the last 15 minutes; a no and taking a yes back do not.
func TestApprovingNeedsRecentCode(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		b := f.browser
		signIn(t, s, b, "guardian", guardianNumber, "remember", "yes")
		s.Clock.Advance(14 * time.Minute)
		b.Press("Answer for Asha Rao")
		b.Press("Yes, for Asha Rao", "reason", "Yes!")
		check := *b.Page
		s.Clock.Advance(2 * time.Minute)
		sent := s.Sent(guardianNumber, "otp")
		b.Press("Say yes")
		wantHeading(t, b, "Enter the code")
		if got := f.state(t); got != "pending" {
			t.Fatalf("a code of 16 minutes ago approved: %s", got)
		}
		b.Press("Continue", "code", s.OTP(guardianNumber, sent))
		if got := b.Page.Value("reason"); got != "Yes!" {
			t.Errorf("the reason is %q after the code", got)
		}
		b.Press("Yes, for Asha Rao")
		b.Press("Say yes")
		wantHeading(t, b, "You said yes for Asha Rao")

		s.Clock.Advance(24 * time.Hour) // the new session lasts 30 days, like the old one
		b.Press("See Asha Rao")
		b.Press("Take my yes back")
		b.Press("Take my yes back")
		wantHeading(t, b, "You took your yes back for Asha Rao")
		f.coach.Call(t, "POST", "/api/approval/send-guardian-request", map[string]any{"player_id": f.player}).Want(t, 201)
		b.Open("/me/guardian/players/" + f.player + "/answer")
		b.Press("No, not for Asha Rao")
		b.Press("Say no")
		wantHeading(t, b, "You said no for Asha Rao")
		b.Page = &check
		b.Press("Say yes")
		if b.Page.Status != 409 || f.state(t) != "rejected" {
			t.Errorf("the older form gets %d, the state is %s", b.Page.Status, f.state(t))
		}
		b.Open("/me/guardian/devices")
		if strings.Contains(b.Page.Text(), "Sign this one out") {
			t.Error("the replaced session is still signed in")
		}
	}, func(c *config.Config) { c.AccessTokenLifetime = 48 * time.Hour }) // the coach stays signed in
}

// Whether a short code and a number match shows neither in the page nor in the cookies.
func TestShortCodeShowsNothing(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		request := func(party string) string {
			id := f.coach.Call(t, "GET", "/api/players/"+f.player, nil).String(party + "_request_id")
			return f.coach.Call(t, "GET", "/api/approval/requests/"+id, nil).String("short_code")
		}
		guardianCode, studentCode := request("guardian"), request("student")
		type result struct {
			status       int
			path, body   string
			cookieLength int
		}
		enter := func(code, number string) result {
			b := s.Browser(t)
			b.Open("/a")
			b.Press("Send me a code", "code", code, "number", number)
			return result{b.Page.Status, b.Page.Path, strings.ReplaceAll(b.Page.Body, b.Page.Value("account"), ""), len(b.Cookie("touchline-sign-in"))}
		}
		want := enter(guardianCode, guardianNumber)
		if want.status != 200 || want.cookieLength == 0 {
			t.Fatalf("a right pair gets %+v", want)
		}
		for name, pair := range map[string][2]string{
			"student": {studentCode, studentNumber}, "wrong code": {"ABCDEF", guardianNumber}, "wrong number": {guardianCode, studentNumber},
			"unknown number": {guardianCode, "+919812345698"}, "no letters": {"123456", guardianNumber},
		} {
			if got := enter(pair[0], pair[1]); got != want {
				t.Errorf("%s differs from a right pair:\n%+v\n%+v", name, got, want)
			}
		}
		b := s.Browser(t)
		b.Open("/a")
		s.Clock.Advance(time.Minute)
		b.Press("Send me a code", "code", " "+strings.ToLower(guardianCode[:3])+"-"+guardianCode[3:], "number", guardianNumber)
		b.Press("Continue", "code", s.OTP(guardianNumber, 0))
		wantHeading(t, b, "May the Touchline app serve you about Asha Rao?")
	})
}

// Names that try to be HTML, links, offers of money or commands stay text.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		for i, name := range []string{`<script>alert(1)</script> Rao`, `"><img src=x onerror=alert(1)>`, "{{.Brand}} Rao", "Win Rs 5000 at https://evil.example/x", strings.Repeat("Venkatanarasimha", 6)} {
			number := fmt.Sprint("+91981234570", i)
			body := touchlinetest.Minor(number, "")
			body["student"].(map[string]any)["full_name"] = name
			player := coach.AddPlayer(t, body).String("player_id")
			b := s.Browser(t)
			paths := []string{strings.TrimPrefix(linkTo(t, s, number, 0), s.URL), "/me/guardian", "/me/guardian/players/" + player, "/me/guardian/players/" + player + "/answer", "/me/guardian/players/" + player + "/not-me", "/me/guardian/messages"}
			signIn(t, s, b, "guardian", number)
			for _, path := range paths {
				if b.Open(path); b.Page.Status != 200 {
					t.Errorf("%s gets %d for the name %q", path, b.Page.Status, name)
				}
				for _, bad := range []string{"<script>alert", "<img src=x", "evil.example", "onerror=alert(1)>"} {
					if strings.Contains(b.Page.Body, bad) {
						t.Errorf("%s contains %q for the name %q", path, bad, name)
					}
				}
			}
		}
	})
}
