package browser_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestOperatorListPages: a full page of a list links to the next one, and the last page has no link.
func TestOperatorListPages(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	o := s.Operator(t, operator.Audit)
	for range 60 { // each read is an entry
		o.Call(t, "GET", "/api/admin/audit?limit=1", nil).Want(t, 200)
	}
	c := newVisitor(t, s.AdminURL)
	c.post("/sign-in", "token", o.Token)
	next := regexp.MustCompile(`href="(/audit\?after=[^"]+)"`)
	first := c.get("/audit").want(200)
	link := next.FindStringSubmatch(first.body)
	if n := strings.Count(first.body, "<tr>"); n != 51 || link == nil {
		t.Fatalf("the first page has %d rows and the link %q, want 50 with a header, and a link", n, link)
	}
	last := c.get(link[1]).want(200)
	if n := strings.Count(last.body, "<tr>"); n < 11 || n > 20 || next.MatchString(last.body) {
		t.Errorf("the last page has %d rows, a link %t", n, next.MatchString(last.body))
	}
}

// TestTierRequestForms checks that the form with the reason of a refusal has no other button: the
// Enter key would press the first one.
func TestTierRequestForms(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	s.Coach(t, coachNumber).Call(t, "PUT", "/api/coach/subscription", map[string]any{"tier": "pro"}).Want(t, 202)
	c := newVisitor(t, s.AdminURL)
	c.post("/sign-in", "token", s.Operator(t, operator.Coaches).Token)
	page := c.get("/tier-requests").want(200, "Free → <strong>Pro</strong>")
	forms := regexp.MustCompile(`(?s)<form method="post"[^>]* action="/tier-requests/.*?</form>`).FindAllString(page.body, -1)
	if len(forms) != 2 || strings.Contains(forms[0], "reason") || !strings.Contains(forms[1], "reason") || strings.Contains(forms[1], "approve") {
		t.Errorf("the forms are %q", forms)
	}
}
