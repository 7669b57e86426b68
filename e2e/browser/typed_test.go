package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestTypedTextStays: what a coach wrote stays when the coach presses another button of the page, and
// is saved only with its own button.
func TestTypedTextStays(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]setting{"with scripts": nil, "without scripts": {withoutScripts()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
				user := s.Coach(t, coachNumber)
				p := newPhone(t, s.URL, settings...)
				p.signIn(s, "coach", coachNumber)
				const restored = "What you wrote is still here, but it is not saved yet."
				written := []string{"bio", "Hockey for all.\nEvery evening.", "experience_years", "31", "sports", "hockey, chess"}
				check := func(when string, fields ...string) {
					t.Helper()
					for i := 0; i < len(fields); i += 2 {
						if got := p.value(fields[i]); got != fields[i+1] {
							t.Errorf("%s: the field %s has %q, want %q", when, fields[i], got, fields[i+1])
						}
					}
				}
				pictureForm := `[aria-labelledby=picture-heading]`
				p.open("/coach/profile")
				p.set(written...)
				p.send(pictureForm, file(t, "me.png", touchlinetest.PDF(2000, 1)))
				p.waitForText("This must be a picture")
				check("after a wrong picture", written...)
				p.send(pictureForm, file(t, "me.png", picture(t)))
				p.waitForText("Your picture is saved")
				p.wantText(restored)
				check("after the picture", written...)
				if got := user.Call(t, "GET", "/api/coach/profile", nil).String("experience_years"); got == "31" {
					t.Error("the picture saved the profile")
				}
				p.screenshot("profile-typed")
				p.press("Add a certificate")
				p.wantHeading("Add a certificate")
				p.open("/coach/profile")
				check("after the form of a certificate", written...)
				p.press("Remove the picture")
				p.wantText(restored)
				check("after the removal of the picture", written...)
				p.tap(`#profile button:not([hidden])`)
				p.waitForText("Saved")
				if got := user.Call(t, "GET", "/api/coach/profile", nil).String("experience_years"); got != "31" {
					t.Errorf("the saved profile has %s years", got)
				}
				p.open("/coach/profile")
				if text := p.text(); strings.Contains(text, restored) {
					t.Errorf("the draft is shown after it was saved: %s", text)
				}
				p.send(pictureForm, file(t, "me.png", picture(t)))
				p.waitForText("Your picture is saved")
				if text := p.text(); strings.Contains(text, restored) {
					t.Errorf("a picture without typed text: %s", text)
				}

				p.open("/coach/verification")
				p.set("legal_name", "Meera A. Nair")
				p.press("Add an identity document")
				p.set("title", "Passport")
				p.send(`form[action="/coach/documents/add"]`, file(t, "passport.pdf", touchlinetest.PDF(3000, 4)))
				p.waitForText("Passport")
				check("after the identity document", "legal_name", "Meera A. Nair")
				p.screenshot("verification-typed")

				p.press("Open Passport")
				p.set("issuer", "Government of India", "expires_on", s.Clock.Now().AddDate(5, 0, 0).Format(time.DateOnly))
				p.send(`[aria-labelledby=replace]`, file(t, "new.pdf", touchlinetest.PDF(4000, 3)))
				p.waitForText("The new file is saved")
				check("after the new file", "issuer", "Government of India")
				p.open("/coach/verification")
				p.set("legal_name", "Meera A. Nair")
				p.press("Submit")
				p.waitForText("We check your documents")
			}, func(c *config.Config) { c.KYC = true })
		})
	}
}
