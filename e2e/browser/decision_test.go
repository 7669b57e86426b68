package browser_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

const (
	coachNumber    = "+919812345678"
	guardianNumber = "+919812345680"
	studentNumber  = "+919812345679"
)

var linkInMessage = regexp.MustCompile(`https?://[^\s]+/a/[A-Za-z0-9_-]+`)

// linkTo returns the link of the newest message to number after skip earlier ones.
func linkTo(t testing.TB, s *touchlinetest.Service, number string, skip int) string {
	t.Helper()
	text := s.SMS(number, "message", skip).Text
	link := linkInMessage.FindString(text)
	if link == "" {
		t.Fatalf("no link in %q", text)
	}
	return link
}

// enterCode types the code that number receives after skip earlier ones.
func (p *phone) enterCode(s *touchlinetest.Service, number string, skip int) {
	p.t.Helper()
	p.fill("code", s.OTP(number, skip))
	p.press("Continue")
}

func TestGuardianApprovesFromLink(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]setting{"with scripts": nil, "without scripts": {withoutScripts()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
				coach := s.Coach(t, coachNumber)
				player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
				link := linkTo(t, s, guardianNumber, 0)

				p := newPhone(t, s.URL, settings...)
				p.open(link)
				if got := p.heading(); got != "May the Touchline app serve you about Asha Rao?" {
					t.Fatalf("got the question %q", got)
				}
				p.screenshot("question")
				p.press("Answer")
				p.screenshot("code")
				p.enterCode(s, guardianNumber, 0)
				p.screenshot("answer")
				p.press("Yes, for Asha Rao")
				p.screenshot("check")
				if status := coach.Call(t, "GET", "/api/players/"+player, nil).String("guardian_status"); status != "pending" {
					t.Fatalf("the check page changed the status to %s", status)
				}
				p.press("Say yes")
				if got := p.heading(); got != "You said yes for Asha Rao" {
					t.Errorf("got the confirmation %q", got)
				}
				p.screenshot("done")
				if status := coach.Call(t, "GET", "/api/players/"+player, nil).String("guardian_status"); status != "approved" {
					t.Fatalf("got the status %s, want approved", status)
				}
				p.press("See Asha Rao")
				p.screenshot("permission")
				p.press("Change: Take my yes back")
				p.press("Take my yes back")
				if got := p.heading(); !strings.HasPrefix(got, "You took your yes back") {
					t.Errorf("got the confirmation %q", got)
				}
				if state := coach.Call(t, "GET", "/api/players/"+player, nil).String("guardian_state"); state != "revoked" {
					t.Fatalf("got the state %s, want revoked", state)
				}
				p.press("Your family")
				p.screenshot("permissions")
			})
		})
	}
}

// smsReader stands in for the part of a phone's browser that reads codes from SMS (Web OTP),
// which the headless browser does not have. arrive hands a code to the page.
const smsReader = `window.OTPCredential = function () {}
	Object.defineProperty(navigator, 'credentials', { value: { get: ({ otp }) => new Promise((resolve) => {
		window.arrive = (code) => { if (otp.transport[0] === 'sms') resolve({ code }) }
	}) } })`

// TestCodeFillsIn checks that the code of the SMS fills in and sends the form by itself.
func TestCodeFillsIn(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	s.Coach(t, coachNumber).AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
	p := newPhone(t, s.URL)
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(smsReader).Do(ctx)
		return err
	}))
	p.open(linkTo(t, s, guardianNumber, 0))
	p.press("Answer")
	if p.count("input[name=code][autocomplete=one-time-code][inputmode=numeric]") != 1 {
		t.Error("the field of the code does not offer codes from messages")
	}
	code := s.OTP(guardianNumber, 0)
	if err := p.load(func(ctx context.Context) error { return chromedp.Evaluate(`arrive("`+code+`")`, nil).Do(ctx) }); err != nil {
		t.Fatalf("the form was not sent: %v\n%s", err, p.text())
	}
	if got := p.heading(); !strings.Contains(got, "Asha Rao") || p.count(".answers button") != 2 {
		t.Errorf("after the code the page is %q", got)
	}
}

// The back button never repeats an answer and never meets a page of the browser about
// forms; neither does a double tap.
func TestBackAndDoubleTap(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		p := newPhone(t, s.URL)
		p.signIn(s, "guardian", guardianNumber)
		p.open("/me/guardian")
		p.press("Answer for Asha Rao")
		p.press("Yes, for Asha Rao")
		check := p.path()
		p.back()
		p.press("No, not for Asha Rao")
		p.back()
		p.press("Yes, for Asha Rao")
		p.click(".answers button", chromedp.ClickCount(2))
		if got := p.heading(); got != "You said yes for Asha Rao" {
			t.Fatalf("got the heading %q after a double tap", got)
		}
		p.back()
		if got := p.heading(); got != "Asha Rao" {
			t.Errorf("back to %s shows %q, want how the answer stands", check, got)
		}
		p.back()
		if got := p.heading(); got != "Asha Rao" {
			t.Errorf("back to the question shows %q, want how the answer stands", got)
		}
		history := f.coach.Call(t, "GET", "/api/players/approval-status/"+f.player, nil).JSON["history"].([]any)
		if len(history) != 1 {
			t.Errorf("got %d decisions, want 1", len(history))
		}
	})
}

// back presses the back button of the browser and waits for the page. One that the browser kept in
// its memory loads again, and is inert until then.
func (p *phone) back() {
	p.t.Helper()
	err := p.load(func(ctx context.Context) error {
		current, entries, err := page.GetNavigationHistory().Do(ctx)
		if err != nil {
			return err
		}
		return page.NavigateToHistoryEntry(entries[current-1].ID).Do(ctx)
	})
	if err != nil {
		p.t.Fatalf("back: %v\n%s", err, p.text())
	}
	p.waitUntil(`document.readyState === 'complete' && !document.body.inert`)
}
