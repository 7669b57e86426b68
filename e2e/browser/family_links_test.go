package browser_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// Every link whose question is closed shows one page, byte for byte, whatever closed it, and every link
// that is only too old another one.
func TestClosedLinksAreAlike(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
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
		b.Press("Yes, this isn’t me")
		links["disputed"] = link
		_, links["expired"] = question("Expired Rao")
		s.Clock.Advance(14*24*time.Hour + time.Minute)

		want := s.Browser(t).Open(links["unknown"])
		if want.Status != 404 || want.Heading() != "This question is closed" {
			t.Fatalf("got the closed link %d %q", want.Status, want.Heading())
		}
		old := s.Browser(t).Open(links["expired"])
		if old.Status != 404 || old.Heading() != "This link is old" {
			t.Fatalf("got the old link %d %q", old.Status, old.Heading())
		}
		for kind, link := range links {
			want := want
			if kind == "expired" {
				want = old
			}
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

		// The page leads the party that was asked to its question or answer, and everybody else to "Your family".
		for kind, heading := range map[string]string{"answered": "Answered Rao", "expired": "May the Touchline app serve you about Expired Rao?", "deleted": "Your family", "corrected": "Your family"} {
			p := newPhone(t, s.URL)
			p.open(links[kind])
			if kind == "expired" {
				p.wantHeading("This link is old")
				p.screenshot("link-old")
			} else {
				p.wantHeading("This question is closed")
				p.screenshot("link-closed")
			}
			p.press("Sign in")
			otps := s.Sent(guardianNumber, "otp")
			p.press("Send me a code", "number", guardianNumber, "role", "guardian")
			p.press("Continue", "code", s.OTP(guardianNumber, otps))
			p.wantHeading(heading)
			if kind == "answered" {
				p.wantText("You said no")
				p.screenshot("link-answered")
			}
		}
	})
}

// Phones and scanners fetch links: neither GET nor HEAD changes anything.
func TestFetchingLinksChangesNothing(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
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
		if got := f.browser.Open("/me/guardian"); got.Heading() != "Your family" {
			t.Errorf("fetching pages signed out or changed the language: %s", got.Heading())
		}
	})
}

// Whether a short code and a number match shows neither in the page nor in the cookies.
func TestShortCodeShowsNothing(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
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
		p := newPhone(t, s.URL)
		p.open("/a")
		p.screenshot("short-code")
		s.Clock.Advance(time.Minute)
		p.press("Send me a code", "code", " "+strings.ToLower(guardianCode[:3])+"-"+guardianCode[3:], "number", guardianNumber)
		p.press("Continue", "code", s.OTP(guardianNumber, 0))
		p.wantHeading("May the Touchline app serve you about Asha Rao?")
	})
}
