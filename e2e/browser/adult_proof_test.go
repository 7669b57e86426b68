package browser_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// signInDeveloped signs a number in to a service for development, with the code of /dev/messages, and returns the access token.
func signInDeveloped(t *testing.T, s *touchlinetest.Service, role, number string) string {
	t.Helper()
	s.Call(t, "POST", "/auth/request-otp", "", map[string]any{"mobile_number": number, "role": role}).Want(t, 202)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for _, m := range s.Call(t, "GET", "/dev/messages?number="+url.QueryEscape(number), "", nil).Want(t, 200).Items() {
			if code, _ := m["code"].(string); code != "" {
				return s.Call(t, "POST", "/auth/login", "", map[string]any{"mobile_number": number, "role": role, "otp": code}).Want(t, 200).String("access_token")
			}
		}
	}
	t.Fatalf("no code for %s", number)
	return ""
}

// TestProofOnPhone: with the provider of a service for development a mother goes back once, proves that she is an adult, and says yes. Her
// second child with another coach asks for nothing more. A brother of 17, who uses another host of the service, stays on it and is refused.
func TestProofOnPhone(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.SMS, c.GuardianProof = "log", "required" })
	const brotherNumber = "+919812345690"
	add := func(coach, name, guardian string) (id string) {
		t.Helper()
		token := signInDeveloped(t, s, "coach", coach)
		s.Call(t, "POST", "/auth/complete-profile", token, map[string]any{"name": "Meera Nair", "bio": "Hockey.", "experience_years": 7, "sports": []string{"hockey"}})
		return s.Call(t, "POST", "/api/players/add", token, named(name, guardian, "")).Want(t, 201).String("player_id")
	}
	asha := add(coachNumber, "Asha Rao", guardianNumber)
	bela := add("+919812345691", "Bela Rao", guardianNumber)
	chand := add("+919812345692", "Chand Rao", brotherNumber)
	signIn := func(url, number string) *phone {
		t.Helper()
		p, phones := newPhone(t, url), newPhone(t, url)
		p.open("/sign-in/guardian")
		p.fill("number", number)
		p.submit()
		p.fill("code", phones.codeOf(number))
		p.submit()
		return p
	}

	mother := signIn(s.URL, guardianNumber)
	mother.open("/me/guardian/players/" + asha + "/answer")
	mother.wantText("First, prove that you are an adult", "No, not for Asha Rao")
	mother.checkAccessibility()
	mother.checkLayout("answer with a proof")
	mother.screenshot("answer-prove")
	mother.press("Prove it with Test ID")
	mother.press("I go back")
	mother.wantText("You came back without proving it.", "No, not for Asha Rao")
	mother.press("Prove it with Test ID")
	mother.press("I am an adult")
	mother.wantText("You have proved that you are an adult.")
	mother.press("Yes, for Asha Rao")
	mother.press("Say yes")
	mother.wantText("You said yes")
	mother.open("/me/guardian/players/" + bela + "/answer")
	mother.press("Yes, for Bela Rao")
	mother.press("Say yes")
	mother.wantText("You said yes")
	mother.open("/me/guardian/proof")
	mother.wantText("You proved it with Test ID.")
	mother.checkAccessibility()
	mother.open("/me/guardian/receipts")
	mother.wantText("You proved that you are an adult, with test.")

	brother := signIn(strings.Replace(s.URL, "127.0.0.1", "localhost", 1), brotherNumber) // the host of PUBLIC_URL is 127.0.0.1
	brother.open("/me/guardian/players/" + chand + "/answer")
	brother.press("Prove it with Test ID")
	brother.press("I am 17")
	brother.wantText("under 18", "No, not for Chand Rao")
	brother.press("Prove it with Test ID")
	brother.wantText("try again in an hour")
}
