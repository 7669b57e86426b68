package browser_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

func enableKYC(c *config.Config) { c.KYC = true }

// TestOperatorVerifiesCoach signs an operator in with a token, decides a submission, and
// suspends and restores the coach.
func TestOperatorVerifiesCoach(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		coach := s.Coach(t, coachNumber)
		document := coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
		photo := coach.Upload(t, "identity", "card.png", picture(t)).Want(t, 201).String("document_id")
		coach.Call(t, "POST", "/api/coach/kyc", map[string]any{"legal_name": "Meera K. Nair", "document_ids": []string{document, photo}}).Want(t, 201)
		token := s.Operator(t, operator.KYC, operator.Coaches, operator.Deliveries, operator.Audit).Token

		p := newPhone(t, s.AdminURL, width(1280))
		chromedp.ListenTarget(p.ctx, func(event any) {
			if e, ok := event.(*cdplog.EventEntryAdded); ok && strings.Contains(e.Entry.Text, "Content Security Policy") {
				t.Errorf("the browser reports %s", e.Entry.Text)
			}
		})
		p.do(cdplog.Enable())
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
		var shown bool
		p.do(chromedp.Evaluate(`[...document.querySelectorAll('figure')].every((f) => f.querySelector('iframe[title], img[alt]').getBoundingClientRect().height > 200 && f.querySelector('figcaption a'))
			&& document.querySelector('iframe').src.endsWith('/documents/`+document+`')`, &shown))
		if !shown {
			t.Errorf("the page does not show both documents:\n%s", p.text())
		}
		p.screenshot("operator-kyc")
		for _, pixels := range screenshotWidths() {
			p.do(width(pixels)(p))
			p.screenshot("operator-kyc")
		}
		p.do(width(1280)(p))
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

// TestDocumentsOfCase checks which headers let the page of a case, and no other page, show a PDF
// in a frame, and that no file can run a script.
func TestDocumentsOfCase(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), enableKYC)
	coach := s.Coach(t, coachNumber)
	passport := coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1)).Want(t, 201).String("document_id")
	photo := coach.Upload(t, "identity", "card.png", picture(t)).Want(t, 201).String("document_id")
	coach.Call(t, "POST", "/api/coach/kyc", map[string]any{"legal_name": "Meera K. Nair", "document_ids": []string{passport, photo}}).Want(t, 201)
	c := newVisitor(t, s.AdminURL)
	c.post("/sign-in", "token", s.Operator(t, operator.KYC).Token)
	one := "/kyc/" + coach.ID
	body := map[string][]byte{"application/pdf": touchlinetest.PDF(500, 1)}
	for _, tt := range []struct{ path, kind, policy, disposition string }{
		{one, "text/html; charset=utf-8", "frame-ancestors 'none'; frame-src 'self'", ""},
		{"/kyc", "text/html; charset=utf-8", "frame-ancestors 'none'", ""},
		{one + "/documents/" + passport, "application/pdf", "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'", `inline; filename="passport.pdf"`},
		{one + "/documents/" + photo, "image/png", "default-src 'none'; sandbox", `inline; filename="card.png"`},
		{one + "/documents/" + coach.ID, "text/html; charset=utf-8", "frame-ancestors 'none'", ""},
	} {
		resp, err := c.client.Get(s.AdminURL + tt.path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if want, known := body[tt.kind]; err != nil || known && !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", tt.path, len(got), err)
		}
		h := resp.Header
		if policy := h.Get("Content-Security-Policy"); h.Get("Content-Type") != tt.kind || !strings.HasSuffix(policy, tt.policy) || !strings.HasPrefix(policy, "default-src 'none'; ") ||
			h.Get("Content-Disposition") != tt.disposition || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", tt.path, h)
		}
	}
	resp, err := http.Get(s.AdminURL + one + "/documents/" + passport)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); kind == "application/pdf" {
		t.Errorf("without a session the document is %s", kind)
	}
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
