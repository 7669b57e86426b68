package browser_test

import (
	"testing"

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/storetest"
	"github.com/touchline/touchline/internal/touchlinetest"
)

func enableKYC(c *config.Config) { c.KYC = true }

// TestOperatorVerifiesCoach signs an operator in with a token, decides a submission, and
// suspends and restores the coach.
func TestOperatorVerifiesCoach(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		document := coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
		coach.Call(t, "POST", "/api/coach/kyc", map[string]any{"legal_name": "Meera K. Nair", "document_ids": []string{document}}).Want(t, 201)
		token := s.Operator(t, operator.KYC, operator.Coaches, operator.Deliveries, operator.Audit).Token

		p := newPhone(t, s.AdminURL, width(1280))
		p.open("/")
		p.fill("token", "tlo_wrong")
		p.press("Sign in")
		if got := p.heading(); got != "Sign in as an operator" {
			t.Fatalf("a wrong token leads to %q", got)
		}
		p.fill("token", token)
		p.press("Sign in")
		p.screenshot("operator")
		p.press("Verification")
		p.press("Meera Nair")
		p.screenshot("operator-kyc")
		p.press("Reject")
		if p.text(); p.heading() != "Meera Nair" {
			t.Fatalf("a rejection without a reason leads to %q", p.heading())
		}
		p.press("Approve")
		if state := coach.Call(t, "GET", "/api/coach/kyc", nil).String("state"); state != "verified" {
			t.Fatalf("got the state %s, want verified", state)
		}
		p.open("/coaches?q=meera")
		p.press("Meera Nair")
		p.fill("reason", "The certificate is forged.")
		p.press("Suspend this coach")
		p.screenshot("operator-coach")
		coach.Call(t, "GET", "/api/coach/profile", nil).Want(t, 401)
		p.press("Restore this coach")
		p.open("/audit")
		p.screenshot("operator-audit")
	}, enableKYC)
}

// TestConsoleNeedsScope checks that a token without a scope cannot open its page.
func TestConsoleNeedsScope(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), enableKYC)
	p := newPhone(t, s.AdminURL)
	p.open("/audit")
	if got := p.path(); got != "/" {
		t.Errorf("without a session /audit leads to %s", got)
	}
	p.fill("token", s.Operator(t, operator.KYC).Token)
	p.press("Sign in")
	p.open("/audit")
	if got := p.heading(); got != "That did not work" {
		t.Errorf("without the scope audit got the page %q", got)
	}
}
