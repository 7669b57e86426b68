package browser_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/storetest"
	"github.com/touchline/touchline/internal/touchlinetest"
)

// axe is axe-core (https://github.com/dequelabs/axe-core, MPL-2.0), as npm has it.
//
//go:embed testdata/axe-core-4.14.1.min.js
var axe string

// violation is a rule of WCAG that a page breaks.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// checkAccessibility fails the test for each rule that the open page breaks.
func (p *phone) checkAccessibility() {
	p.t.Helper()
	for _, v := range p.violations() {
		var nodes strings.Builder
		for _, n := range v.Nodes {
			fmt.Fprintf(&nodes, "\n  %s\n  %s", n.HTML, n.Summary)
		}
		p.t.Errorf("%s: %s: %s%s", p.path(), v.ID, v.Help, nodes.String())
	}
}

// violations runs axe-core on the open page.
func (p *phone) violations() []violation {
	p.t.Helper()
	var result string
	p.do(
		page.SetBypassCSP(true),
		chromedp.Evaluate(axe, nil),
		chromedp.Evaluate(`axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(r => JSON.stringify(r.violations))`,
			&result, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }),
	)
	var violations []violation
	if err := json.Unmarshal([]byte(result), &violations); err != nil {
		p.t.Fatal(err)
	}
	return violations
}

// TestAxeFindsViolations checks that checkAccessibility can fail.
func TestAxeFindsViolations(t *testing.T) {
	p := newPhone(t, "")
	p.open("data:text/html,<html><body><img src=x><p style='color:%23999'>pale</p></body></html>")
	if found := p.violations(); len(found) < 2 {
		t.Errorf("got %v, want an image without a text and a contrast that is too low", found)
	}
}

// appearances are the languages and themes in which every page is checked.
var appearances = map[string][]setting{
	"english light": {language("en-IN")}, "english dark": {language("en-IN"), dark()},
	"hindi light": {language("hi-IN")}, "hindi dark": {language("hi-IN"), dark()},
}

// TestAccessibility runs axe-core on every page in both languages and both themes.
func TestAccessibility(t *testing.T) {
	for name, settings := range appearances {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := touchlinetest.New(t, storetest.SQLite(t))
			coach := s.Coach(t, coachNumber)
			player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
			batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12", "schedule": []map[string]any{{"weekday": "monday", "start": "17:30", "end": "19:00"}}}).Want(t, 201).String("batch_id")
			coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+player, nil).Want(t, 204)
			link := linkTo(t, s, guardianNumber, 0)
			p := newPhone(t, s.URL, settings...)
			for _, path := range []string{"/", "/coaches", "/a", "/a/closed", "/sign-in/family", "/sign-in/coach", link, link + "/later", link + "/not-me"} {
				p.open(path)
				p.checkAccessibility()
			}
			fee := addOverdueFee(t, coach, player)
			p.signIn(s, "guardian", guardianNumber)
			for _, path := range []string{"/me/guardian", "/me/guardian/players/" + player, "/me/guardian/players/" + player + "/answer", "/me/guardian/players/" + player + "/not-me", "/me/guardian/players/" + player + "/fees", "/me/guardian/players/" + player + "/schedule", "/me/guardian/players/" + player + "/progress", "/me/guardian/messages", "/me/guardian/settings", "/me/guardian/devices", "/me/guardian/disputes", "/me/dispute-ended"} {
				p.open(path)
				p.checkAccessibility()
			}
			p.signIn(s, "coach", coachNumber)
			for _, path := range []string{
				"/coach", "/coach/profile", "/coach/players", "/coach/players/needs", "/coach/players/add", "/coach/players/remind", "/coach/players/import",
				"/coach/players/" + player, "/coach/players/" + player + "/edit", "/coach/players/" + player + "/remove", "/coach/players/" + player + "/qr?party=guardian",
				"/coach/messages", "/coach/messages/write", "/coach/messages/templates", "/coach/messages/replies", "/coach/players/" + player + "/progress", "/coach/players/" + player + "/reports",
				"/coach/batches/add", "/coach/batches/" + batch, "/coach/batches/" + batch + "/attendance/2026-03-02",
				"/coach/notifications", "/coach/settings", "/coach/settings/plan", "/coach/settings/plan/pro", "/coach/documents/add", "/coach/visibility",
				"/coach/fees", "/coach/fees/add", "/coach/fees/upi", "/coach/fees/" + fee,
			} {
				p.open(path)
				p.checkAccessibility()
			}
		})
	}
}
