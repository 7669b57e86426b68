package e2e_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestBlockedNumber: after ten wrong codes of a stranger no SMS leaves for a new device. The API answers
// 202 as always and says until when, and the page says so, alike for a number that a coach entered
// and for another one. The link of an earlier SMS still leads in.
func TestBlockedNumber(t *testing.T) {
	t.Parallel()
	const unknown = "+919812300071"
	digits := regexp.MustCompile(`[0-9]+`)
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Coach(t, coachNumber).AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		link := pathOf(s, linkPattern.FindString(s.SMS(guardianNumber, "message", 0).Text))
		lead := map[string]string{}
		for _, number := range []string{guardianNumber, unknown} {
			b := s.Browser(t)
			b.Open("/sign-in/guardian")
			lead[number] = digits.ReplaceAllString(b.Press("Send me a code", "number", number).Text(), "0")
		}
		if lead[guardianNumber] != lead[unknown] || !strings.Contains(lead[unknown], "If a coach has entered") {
			t.Errorf("after asking for a code: got\n%s\nand for an unknown number\n%s", lead[guardianNumber], lead[unknown])
		}
		body := func(number string) object { return object{"mobile_number": number, "role": "guardian"} }
		for range 2 {
			s.Clock.Advance(6 * time.Minute)
			for _, number := range []string{guardianNumber, unknown} {
				s.Call(t, "POST", "/auth/request-otp", "", body(number)).Want(t, 202)
				for range 5 {
					attempt := body(number)
					attempt["otp"] = "000000"
					s.Call(t, "POST", "/auth/login", "", attempt).Want(t, 422, "otp_incorrect")
				}
			}
		}
		s.Clock.Advance(6 * time.Minute)
		sent := s.Sent(guardianNumber, "otp")
		var answers, pages []string
		for _, number := range []string{guardianNumber, unknown} {
			a := s.Call(t, "POST", "/auth/request-otp", "", body(number))
			wantBlocked(t, a, s.Clock.Now())
			answers = append(answers, digits.ReplaceAllString(string(a.Body), "0"))
			attempt := body(number)
			attempt["otp"] = "000000"
			s.Call(t, "POST", "/auth/login", "", attempt).Want(t, 429, "otp_attempts_exceeded")
			s.Call(t, "POST", "/auth/request-otp", "", body(number)).Want(t, 429, "otp_resend_too_soon")
			b := s.Browser(t) // a code of a moment ago cannot be used either
			b.Open("/sign-in/guardian")
			page := b.Press("Send me a code", "number", number)
			if page.Status != 429 || !strings.Contains(page.Text(), "we send no code for") || strings.Contains(page.Text(), "We sent") {
				t.Errorf("the page of %s: %d %s", number, page.Status, page.Text())
			}
			pages = append(pages, digits.ReplaceAllString(page.Text(), "0"))
		}
		if answers[0] != answers[1] || pages[0] != pages[1] {
			t.Errorf("a number that a coach entered and another one get different answers:\n%q\n%q", answers, pages)
		}
		if got := s.Sent(guardianNumber, "otp"); got != sent {
			t.Errorf("%d SMS left with codes that cannot be used", got-sent)
		}
		// No SMS leaves, so the sends of the day stay: 10 are allowed, and 4 were used.
		for range 8 {
			s.Clock.Advance(61 * time.Minute)
			for _, number := range []string{guardianNumber, unknown} {
				wantBlocked(t, s.Call(t, "POST", "/auth/request-otp", "", body(number)), s.Clock.Now())
			}
		}
		s.Clock.Advance(24*time.Hour - 8*61*time.Minute)
		for _, number := range []string{guardianNumber, unknown} {
			if a := s.Call(t, "POST", "/auth/request-otp", "", body(number)).Want(t, 202); a.JSON["attempts_blocked_until"] != nil {
				t.Errorf("%s is still blocked: %s", number, a.Body)
			}
		}
		if got := s.SMS(guardianNumber, "otp", sent); got.Text == "" {
			t.Error("no code after the block")
		}
		sent++
		b := s.Browser(t)
		b.Open(link)
		b.Press("Answer")
		b.Press("Continue", "code", s.OTP(guardianNumber, sent))
		if !strings.HasPrefix(b.Page.Path, "/me/guardian/players/") {
			t.Errorf("the link of the SMS leads to %s: %s", b.Page.Path, b.Page.Text())
		}
	})
}

// wantBlocked checks the answer to a request for a code that cannot be used at now.
func wantBlocked(t *testing.T, a *touchlinetest.Response, now time.Time) {
	t.Helper()
	a.Want(t, 202)
	until, err := time.Parse(time.RFC3339, a.String("attempts_blocked_until"))
	if err != nil || !until.After(now) || until.After(now.Add(24*time.Hour)) {
		t.Errorf("blocked at %s: got %s", now, a.Body)
	}
}
