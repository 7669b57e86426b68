package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/storetest"
	"github.com/touchline/touchline/internal/touchlinetest"
)

// TestFamilyPagesFit opens each page of the families on a wide screen, with long names. No page
// may scroll sideways. TestAccessibility checks all pages on narrow screens, in both languages, and
// with text of 200 %.
func TestFamilyPagesFit(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	coach.Call(t, "PATCH", "/api/coach/profile", map[string]any{"name": "Venkatanarasimharajuvaripeta Subrahmanyam"}).Want(t, 200)
	body := touchlinetest.Minor(guardianNumber, "")
	body["student"].(map[string]any)["full_name"] = "Lakshminarasimhacharyulu Venkatasubramanian"
	player := "/me/guardian/players/" + coach.AddPlayer(t, body).String("player_id")
	link := linkTo(t, s, guardianNumber, 0)
	for _, tt := range []struct {
		name     string
		settings []setting
	}{
		{"wide-dark", []setting{width(1280), dark()}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPhone(t, s.URL, tt.settings...)
			fits := func(name string) {
				t.Helper()
				var widths []int
				p.do(chromedp.Evaluate(`[document.documentElement.scrollWidth, document.documentElement.clientWidth]`, &widths))
				if widths[0] > widths[1] {
					t.Errorf("%s is %d px wide on a screen of %d px", name, widths[0], widths[1])
				}
				p.screenshot("fit-" + tt.name + "-" + name)
			}
			for _, page := range [][2]string{{"question", link}, {"later", link + "/later"}, {"not-me", link + "/not-me"}, {"closed", "/a/none"}, {"short-code", "/a"}, {"sign-in", "/sign-in/family"}} {
				p.open(page[1])
				fits(page[0])
			}
			sent := s.Sent(guardianNumber, "otp")
			p.open(link)
			p.submit()
			fits("code")
			p.fill("code", s.OTP(guardianNumber, sent))
			p.submit()
			fits("answer")
			p.wantEqualAnswers()
			p.answer(strings.Repeat("z", 501))
			fits("fault")
			p.answer("Because.")
			fits("check")
			for _, page := range [][2]string{{"list", "/me/guardian"}, {"player", player}, {"dispute", player + "/not-me"}, {"messages", "/me/guardian/messages"}, {"devices", "/me/guardian/devices"}, {"disputes", "/me/guardian/disputes"}, {"dispute-ended", "/me/dispute-ended"}} {
				p.open(page[1])
				fits(page[0])
			}
		})
	}
}

// answer sets the reason and presses the first answer.
func (p *phone) answer(reason string) {
	p.t.Helper()
	p.set("reason", reason)
	p.click(".answers button")
}

// wantEqualAnswers fails the test unless both answers have the same size and look.
func (p *phone) wantEqualAnswers() {
	p.t.Helper()
	var looks []string
	p.do(chromedp.Evaluate(`[...document.querySelectorAll('.answers button')].map(b => {
		const s = getComputedStyle(b), r = b.getBoundingClientRect()
		return [r.width, s.color, s.backgroundColor, s.borderColor, s.borderWidth, s.fontSize, s.fontWeight, s.minHeight, b.autofocus, document.activeElement === b].join(' ')
	})`, &looks))
	if len(looks) != 2 || looks[0] != looks[1] {
		p.t.Errorf("the answers look different: %q", looks)
	}
}
