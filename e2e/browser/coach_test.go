package browser_test

import (
	"testing"

	"github.com/touchline/touchline/internal/touchlinetest"
)

func TestCoachSignsIn(t *testing.T) {
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		p := newPhone(t, s.URL)
		p.open("/")
		p.screenshot("start")
		p.press("Sign in or register")
		p.fill("number", "98123 45678")
		p.screenshot("sign-in")
		p.press("Send me a code")
		p.enterCode(s, coachNumber, 0)
		if got := p.path(); got != "/coach" {
			t.Errorf("got the page %s after the sign-in, want /coach", got)
		}
		p.screenshot("today")
	})
}
