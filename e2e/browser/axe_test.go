package browser_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/mail/mailtest"
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

// smallTargets lists what can be pressed and is smaller than 44 px, except links within a
// sentence. The label of a checkbox belongs to its target.
const smallTargets = `[...document.querySelectorAll('a[href]:not(.skip), button, input:not([type=hidden]), select, textarea, summary')].filter((e) => {
	const target = e.matches('[type=checkbox], [type=radio]') && e.closest('label') || e
	const box = target.getBoundingClientRect()
	const inSentence = getComputedStyle(e).display === 'inline' && e.parentElement.textContent.trim() !== e.textContent.trim()
	return e.checkVisibility() && !inSentence && (box.height < 44 || box.width < 44)
}).map((e) => { const box = e.getBoundingClientRect(); return e.outerHTML.slice(0, 150) + ' ' + box.width + ' x ' + box.height })`

// checkAccessibility fails the test for each target that is too small, and for each rule that
// the open page breaks in the light or in the dark theme.
func (p *phone) checkAccessibility() {
	p.t.Helper()
	defer p.do(emulation.SetEmulatedMedia())
	var small []string
	p.do(chromedp.Evaluate(smallTargets, &small))
	for _, target := range small {
		p.t.Errorf("%s: a target has less than 44 px: %s", p.path(), target)
	}
	for _, theme := range []string{"light", "dark"} {
		p.do(colors(theme))
		for _, v := range p.violations() {
			var nodes strings.Builder
			for _, n := range v.Nodes {
				fmt.Fprintf(&nodes, "\n  %s\n  %s", n.HTML, n.Summary)
			}
			p.t.Errorf("%s, %s: %s: %s%s", p.path(), theme, v.ID, v.Help, nodes.String())
		}
	}
}

// colors asks pages for the colours of a theme, "light" or "dark".
func colors(theme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}})
}

// violations runs axe-core on the open page with its rules for WCAG and good practice.
func (p *phone) violations() []violation {
	p.t.Helper()
	var result string
	if !p.hasAxe {
		p.do(chromedp.Evaluate(axe, nil), chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := page.AddScriptToEvaluateOnNewDocument(axe).Do(ctx) // sent once, for all later pages
			return err
		}))
		p.hasAxe = true
	}
	p.do(
		chromedp.Evaluate(`axe.run(document, {
			runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
			preload: false, iframes: false, resultTypes: ['violations'],
		}).then(r => JSON.stringify(r.violations))`,
			&result, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }),
	)
	var violations []violation
	if err := json.Unmarshal([]byte(result), &violations); err != nil {
		p.t.Fatal(err)
	}
	return violations
}

// TestAxeFindsViolations checks that checkAccessibility can fail, in each theme.
func TestAxeFindsViolations(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "")
	p.open("data:text/html,<html><body><img src=x><p style='color:%23999'>pale</p></body></html>")
	if found := p.violations(); len(found) < 2 {
		t.Errorf("got %v, want an image without a text and a contrast that is too low", found)
	}
	p.open("data:text/html,<html lang=en><title>Pale</title><style>body{background:white;color:black}@media (prefers-color-scheme:dark){p{color:%23999}}</style><body><main><h1>Black</h1><p>pale in the dark</main></body></html>")
	for theme, want := range map[string]int{"light": 0, "dark": 1} {
		p.do(colors(theme))
		if found := p.violations(); len(found) != want {
			t.Errorf("%s: got %v, want %d violations", theme, found, want)
		}
	}
}

// TestAccessibility runs axe-core on every page in both languages and both themes.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	mails := mailtest.New(t, mailtest.Plain)
	s := touchlinetest.New(t, storetest.SQLite(t), enableKYC, func(c *config.Config) {
		c.Mail, c.MailFrom = config.SecretURL(mails.URL), "hello@touchline.example"
	})
	coach := s.Coach(t, coachNumber)
	minor := touchlinetest.Minor(guardianNumber, studentNumber)
	minor["guardian"].(map[string]any)["email"] = "meera@families.example"
	player := coach.AddPlayer(t, minor).String("player_id")
	unsubscribe := strings.Trim(mails.Wait(t, "meera@families.example", 0).Header.Get("List-Unsubscribe"), "<>")
	batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12", "schedule": []map[string]any{{"weekday": "monday", "start": "17:30", "end": "19:00"}}}).Want(t, 201).String("batch_id")
	coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+player, nil).Want(t, 204)
	link := linkTo(t, s, guardianNumber, 0)
	fee := addOverdueFee(t, coach, player)
	document := coach.Upload(t, "certification", "licence.pdf", touchlinetest.PDF(2000, 1), "title", "Hockey licence").Want(t, 201).String("document_id")
	s.Clock.Advance(75 * time.Hour) // the answer is overdue
	t.Run("families", func(t *testing.T) {
		t.Parallel()
		p := newPhone(t, s.URL)
		p.checkPages("", "/", "/coaches", "/a", "/a/closed", "/a/not-me", "/account-closed", "/sign-in/family", "/sign-in/coach", "/me/dispute-ended")
		p.checkPages(link, "", "/later", "/not-me")
		p.checkPages(unsubscribe, "")
		p.open(link)
		p.submit()
		p.checkPages("", "/sign-in/code")
		p.fill("code", s.OTP(guardianNumber, 0))
		p.submit()
		p.checkPages("/me/guardian", "", "/messages", "/settings", "/devices", "/number", "/disputes")
		p.checkPages("/me/guardian/players/"+player, "", "/answer", "/check?action=approved", "/check?action=rejected", "/not-me", "/fees", "/schedule", "/progress")
	})
	t.Run("coaches", func(t *testing.T) {
		t.Parallel()
		p := newPhone(t, s.URL)
		p.signIn(s, "coach", coachNumber)
		p.checkPages("/coach", "", "/profile", "/visibility", "/verification", "/documents/add", "/documents/"+document, "/notifications",
			"/settings", "/settings/number", "/settings/close", "/settings/close/code", "/settings/plan", "/settings/plan/pro",
			"/fees", "/fees/add", "/fees/upi", "/fees/"+fee)
		p.checkPages("/coach/players", "", "?show=needs", "/add", "/remind", "/import", "/sheet", "/sheet?player="+player)
		p.checkPages("/coach/players/"+player, "", "/edit", "/remove", "/qr?party=guardian", "/progress", "/reports")
		p.checkPages("/coach/batches", "/add", "/"+batch, "/"+batch+"/attendance/2026-03-02")
		p.checkPages("/coach/messages", "", "/write", "/templates", "/replies")
	})
}

// checkPages checks the pages of base and each path in both languages.
func (p *phone) checkPages(base string, paths ...string) {
	p.t.Helper()
	for _, path := range paths {
		for _, tag := range []string{"hi-IN", "en-IN"} {
			p.do(language(tag)(p))
			p.open(base + path)
			if got := p.path(); got != strings.TrimPrefix(base+path, p.url) {
				p.t.Errorf("%s leads to %s", base+path, got)
			}
			p.checkAccessibility()
		}
	}
}
