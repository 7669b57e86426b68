package e2e_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message/mail/mailtest"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

var codeInMail = regexp.MustCompile(`(?m)^[0-9]{6}$`)

// TestSignInByEmail: a guardian confirms an address in the settings. After ten wrong codes of strangers
// the page offers a code by mail, which leads in. Another number gets the same pages and answers, and no
// mail leaves for it.
func TestSignInByEmail(t *testing.T) {
	const address, unknown = "meera@families.example", "+919812300072"
	digits := regexp.MustCompile(`[0-9]+`)
	eachMail(t, mailtest.Plain, func(t *testing.T, s *touchlinetest.Service, server *mailtest.Server) {
		s.Coach(t, coachNumber).AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		b := s.Browser(t)
		b.Open("/sign-in/guardian")
		sent := s.Sent(guardianNumber, "otp")
		b.Press("Send me a code", "number", guardianNumber)
		b.Press("Continue", "code", s.OTP(guardianNumber, sent))
		s.Clock.Skip(16 * time.Minute)
		b.Open("/me/guardian/settings/email")
		if b.Press("Send a code to this address", "email", address); !strings.HasPrefix(b.Page.Path, "/sign-in/guardian") {
			t.Fatalf("16 minutes after the code: %s %s", b.Page.Path, b.Page.Text())
		}
		sent = s.Sent(guardianNumber, "otp")
		b.Press("Send me a code", "number", guardianNumber)
		b.Press("Continue", "code", s.OTP(guardianNumber, sent))
		b.Press("Send a code to this address", "email", address)
		mail := server.Wait(t, address, 0)
		if mail.Subject != "Confirm this address for Touchline" || mail.Header.Get("List-Unsubscribe") != "" {
			t.Errorf("the mail: %q, %v", mail.Subject, mail.Header)
		}
		b.Press("Confirm", "code", codeInMail.FindString(mail.Text))
		if text := b.Page.Text(); b.Page.Path != "/me/guardian/settings?done=email" || !strings.Contains(text, address) {
			t.Errorf("after the confirmation: %s %s", b.Page.Path, text)
		}

		body := func(number string) object { return object{"mobile_number": number, "role": "guardian"} }
		for _, number := range []string{guardianNumber, unknown} {
			wrong := body(number)
			wrong["otp"] = "000000"
			for range 2 {
				s.Clock.Advance(6 * time.Minute)
				s.Call(t, "POST", "/auth/request-otp", "", body(number)).Want(t, 202)
				for range 5 {
					s.Call(t, "POST", "/auth/login", "", wrong).Want(t, 422, "otp_incorrect")
				}
			}
		}
		s.Clock.Advance(6 * time.Minute)
		sms := s.Sent(guardianNumber, "otp")
		var pages, answers []string
		for _, number := range []string{unknown, guardianNumber} {
			b = s.Browser(t)
			b.Open("/sign-in/guardian")
			blocked := b.Press("Send me a code", "number", number).Text()
			page := b.Press("Send the code by e-mail")
			if page.Path != "/sign-in/code" || !strings.Contains(page.Text(), "If you confirmed an e-mail address") {
				t.Errorf("%s: %s %s", number, page.Path, page.Text())
			}
			pages = append(pages, digits.ReplaceAllString(blocked+page.Text(), "0"))
			byMail := body(number)
			byMail["channel"] = "email"
			a := s.Call(t, "POST", "/auth/request-otp", "", byMail).Want(t, 429, "otp_resend_too_soon")
			byMail["otp"] = "000000"
			wrong := s.Call(t, "POST", "/auth/login", "", byMail).Want(t, 422, "otp_incorrect")
			answers = append(answers, fmt.Sprint(a.JSON["detail"], a.JSON["limit"], wrong.JSON["detail"], wrong.JSON["attempts_left"]))
		}
		if pages[0] != pages[1] || answers[0] != answers[1] {
			t.Errorf("a number with a confirmed address and another one get different answers:\n%q\n%q", pages, answers)
		}
		mail = server.Wait(t, address, 1)
		code := codeInMail.FindString(mail.Text)
		if mail.Subject != "Your code for Touchline" || code == "" || strings.Contains(mail.Subject, code) {
			t.Errorf("the mail: %q\n%s", mail.Subject, mail.Text)
		}
		if b.Press("Continue", "code", code); b.Page.Path != "/me/guardian" {
			t.Errorf("the code of the mail leads to %s: %s", b.Page.Path, b.Page.Text())
		}
		if got := s.Sent(guardianNumber, "otp"); got != sms {
			t.Errorf("%d SMS left with codes that go by mail", got-sms)
		}
		eventually(t, "no delivery waits", func() bool {
			return queryOne[int](t, openTables(t, s), `SELECT count(*) FROM deliveries WHERE kind = 'otp' AND state = 'queued'`) == 0
		})
		if got := len(server.To(address)); got != 2 {
			t.Errorf("%d mails, want 2", got)
		}

		b.Open("/me/guardian/settings/email")
		if b.Press("Remove the address"); strings.Contains(b.Page.Text(), address) {
			t.Errorf("after the removal: %s", b.Page.Text())
		}
	})
}

// TestEmailOnCodePage: a number that is blocked while its owner enters the code gets the same offer on
// the page of the code.
func TestEmailOnCodePage(t *testing.T) {
	eachMail(t, mailtest.Plain, func(t *testing.T, s *touchlinetest.Service, _ *mailtest.Server) {
		const offer = "Send the code by e-mail"
		b := s.Browser(t)
		b.Open("/sign-in/coach")
		if strings.Contains(b.Page.Text(), offer) {
			t.Errorf("the page of a number that is not blocked: %s", b.Page.Text())
		}
		for range 2 {
			s.Clock.Advance(6 * time.Minute)
			b.Open("/sign-in/coach")
			b.Press("Send me a code", "number", coachNumber)
			for range 5 {
				s.Call(t, "POST", "/auth/login", "", object{"mobile_number": coachNumber, "otp": "000000"}).Want(t, 422, "otp_incorrect")
			}
		}
		if page := b.Press("Continue", "code", "000000"); page.Status != 429 || !strings.Contains(page.Text(), offer) {
			t.Errorf("a code of a blocked number: %d %s", page.Status, page.Text())
		}
		if page := b.Press(offer); page.Path != "/sign-in/code" || !strings.Contains(page.Text(), "If you confirmed an e-mail address") {
			t.Errorf("after asking for a code by mail: %s %s", page.Path, page.Text())
		}
		if page := b.Press("Send the code again"); page.Status != 429 || strings.Contains(page.Text(), offer) {
			t.Errorf("asking again at once: %d %s", page.Status, page.Text())
		}
	})
}

// TestNoMailNoCode: without a mail server the channel is refused, and no page offers it.
func TestNoMailNoCode(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Call(t, "POST", "/auth/request-otp", "", object{"mobile_number": coachNumber, "role": "coach", "channel": "email"}).Want(t, 422, "validation_failed")
		b := s.Browser(t)
		b.Open("/sign-in/coach")
		sent := s.Sent(coachNumber, "otp")
		b.Press("Send me a code", "number", coachNumber)
		b.Press("Continue", "code", s.OTP(coachNumber, sent))
		if page := b.Open("/coach/settings/email"); page.Status != 404 {
			t.Errorf("the page for an address: %d", page.Status)
		}
	})
}
