package browser_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// recordSignals counts the passkeys of which the service says that it does not know them, with the domain.
func (p *phone) recordSignals() {
	p.t.Helper()
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := cdppage.AddScriptToEvaluateOnNewDocument(`if (window.PublicKeyCredential && localStorage.buttonOnly) PublicKeyCredential.isConditionalMediationAvailable = async () => false
		if (window.PublicKeyCredential) PublicKeyCredential.signalUnknownCredential = async ({ rpId, credentialId }) => {
			if (credentialId.length > 10) localStorage.signalled = (parseInt(localStorage.signalled) || 0) + 1 + ' ' + rpId
		}`).Do(ctx)
		return err
	}))
}

// TestPasskeyOffer: the second sign-in by code on a device offers a passkey, once. "Not now" goes on to where the person was going.
func TestPasskeyOffer(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	s.Coach(t, coachNumber)
	p := newPhone(t, localURL(s))
	p.authenticator()
	signIn := func() {
		t.Helper()
		s.Clock.Advance(2 * time.Minute)
		p.do(network.DeleteCookies("touchline-coach").WithURL(p.url))
		sent := s.Sent(coachNumber, "otp")
		p.open("/sign-in/coach")
		p.press("Send me a code", "number", coachNumber)
		p.enterCode(s, coachNumber, sent)
	}
	signIn()
	if at := p.path(); at != "/coach" {
		t.Fatalf("the first sign-in ends at %s", at)
	}
	signIn()
	p.wantText("Sign in without a code next time?")
	p.checkAccessibility()
	p.checkLayout("offer of a passkey")
	p.screenshot("passkey-offer")
	p.press("Not now")
	p.waitUntil(`location.pathname === "/coach"`)
	for range 2 {
		signIn()
		if at := p.path(); at != "/coach" {
			t.Errorf("a later sign-in ends at %s", at)
		}
	}
	// Another person on the phone, who adds one.
	p.do(network.DeleteCookies("touchline-device-coach").WithURL(p.url), network.DeleteCookies("touchline-device-coach-offered").WithURL(p.url))
	signIn()
	signIn()
	p.do(cdppage.BringToFront()) // the tab of checkAccessibility has the focus of the browser
	p.press("Add a passkey")
	p.waitForText("The passkey is ready")
	p.press("Continue")
	p.waitUntil(`location.pathname === "/coach"`)
}

// authenticator gives the browser a key store that verifies the person, as a phone has one.
func (p *phone) authenticator() {
	p.t.Helper()
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		if err := webauthn.Enable().Do(ctx); err != nil {
			return err
		}
		id, err := webauthn.AddVirtualAuthenticator(&webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}).Do(ctx)
		p.keyStore = id
		return err
	}))
}

// localURL is the address of a service under the name localhost: browsers have no passkeys for IP addresses.
func localURL(s *touchlinetest.Service) string {
	return strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
}

// TestPasskeyOnPages: a coach and a guardian add a passkey under their devices and sign in with it, also
// after strangers have locked the number. A removed passkey signs in no more.
func TestPasskeyOnPages(t *testing.T) {
	t.Parallel()
	for role, page := range map[string]string{"coach": "/coach/settings", "guardian": "/me/guardian/devices"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			storetest.Either(t, func(t *testing.T, url string) {
				s := touchlinetest.New(t, url)
				coach := s.Coach(t, coachNumber)
				number := coachNumber
				if role == "guardian" {
					number = guardianNumber
					coach.AddPlayer(t, named("Asha Rao", guardianNumber, ""))
				}
				p := newPhone(t, localURL(s))
				p.authenticator()
				p.recordSignals()
				p.signIn(s, role, number)
				p.open(page)
				p.press("Passkeys")
				p.press("Add a passkey")
				p.waitForText("The passkey is added")
				p.wantText("Chrome")

				p.open(page)
				p.press("Passkeys")
				p.press("Sign out")
				lock(t, s, role, number)
				want := map[string]string{"coach": "/coach/players", "guardian": "/me/guardian"}[role]
				p.open("/sign-in/family?next=%2Fcoach%2Fplayers") // nothing is typed or pressed: the number field offers the passkey
				p.waitUntil(`location.pathname === "` + want + `"`)
				p.open(page)
				p.press("Passkeys")
				p.press("Sign out")
				p.script(`localStorage.buttonOnly = 'yes'`, nil) // else the number field could be faster
				p.open("/sign-in/family?next=%2Fcoach%2Fplayers")
				p.press("Sign in with a passkey") // it says which role signs in
				p.script(`localStorage.removeItem('buttonOnly')`, nil)
				p.waitUntil(`location.pathname === "` + want + `"`)
				p.open(page)
				p.press("Passkeys")
				p.wantText("Last used")
				s.Clock.Advance(16 * time.Minute)
				p.open(page)
				p.press("Passkeys")
				p.wantText("sign in again first")
				p.click("form[action$=remove] button")
				p.waitForText("no longer signs in")
				p.waitUntil(`localStorage.signalled === "1 localhost"`) // the device is told
				p.press("Sign out")
				p.open("/sign-in/" + role)
				p.waitForText("This passkey does not work here")
				p.waitUntil(`localStorage.signalled === "2 localhost"`)
			})
		})
	}
	t.Run("hidden", func(t *testing.T) {
		t.Parallel()
		s := touchlinetest.New(t, storetest.SQLite(t))
		p := newPhone(t, s.URL) // an IP address
		p.open("/sign-in/coach")
		if n := p.visible("form[data-passkey] button"); n != 0 {
			t.Errorf("the page offers passkeys at an IP address")
		}
	})
}

// lock enters wrong codes until the number takes no code for 24 h.
func lock(t *testing.T, s *touchlinetest.Service, role, number string) {
	t.Helper()
	body := map[string]any{"mobile_number": number, "role": role}
	for range 2 {
		s.Clock.Advance(2 * time.Minute)
		s.Call(t, "POST", "/auth/request-otp", "", body).Want(t, 202)
		wrong := map[string]any{"mobile_number": number, "role": role, "otp": "0000"}
		for range 5 {
			s.Call(t, "POST", "/auth/login", "", wrong).Want(t, 422, "otp_incorrect")
		}
	}
}
