package browser_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
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

// tooWide reports the widths of the page and of the window if the page scrolls sideways, as it
// is and with text of 200 %.
const tooWide = `['', '200%'].flatMap((size) => {
	const root = document.documentElement
	root.style.fontSize = size
	const widths = root.scrollWidth > root.clientWidth ? [(size || '100%') + ': ' + root.scrollWidth + ' in ' + root.clientWidth] : []
	root.style.fontSize = ''
	return widths
})`

// looks are the languages, themes and widths of checkPages. Languages differ in words and themes
// in colours, so these two find what all pairs would find.
var looks = []struct {
	language, theme string
	width           int64
}{{"hi-IN", "light", 320}, {"en-IN", "dark", 360}}

// checkPages checks the pages of base and each path.
func (p *phone) checkPages(base string, paths ...string) {
	p.t.Helper()
	p.inEachLook(func() {
		for _, path := range paths {
			p.checkPage(base + path)
		}
	})
}

// checkStep opens a page in each of the looks, takes the steps that lead from there to another
// page, and checks that one.
func (p *phone) checkStep(path string, steps ...func()) {
	p.t.Helper()
	p.inEachLook(func() { p.checkPage(path, steps...) })
}

func (p *phone) inEachLook(check func()) {
	p.t.Helper()
	for _, look := range looks {
		p.look = look.language[:2] + "-" + look.theme
		p.do(language(look.language)(p), colors(look.theme), width(look.width)(p))
		check()
	}
	p.do(emulation.SetEmulatedMedia())
}

// checkPage opens a page, takes the steps, and checks the page to which they lead.
func (p *phone) checkPage(path string, steps ...func()) {
	p.t.Helper()
	p.open(path)
	path = strings.TrimPrefix(path, p.url)
	if got := p.path(); got != path {
		p.t.Errorf("%s leads to %s", path, got)
	}
	for _, step := range steps {
		step()
	}
	p.checkAccessibility()
	p.screenshotForReview()
	path, _, _ = strings.Cut(path, "?")
	p.checked = append(p.checked, path)
}

// checkAccessibility fails the test for each target of the open page that is too small, for
// each rule that the page breaks, and if the page is wider than the window.
func (p *phone) checkAccessibility() {
	p.t.Helper()
	var faults, wide []string
	p.do(chromedp.Evaluate(smallTargets, &faults), chromedp.Evaluate(tooWide, &wide))
	for _, fault := range append(faults, wide...) {
		p.t.Errorf("%s %s: a target has less than 44 px, or the page is too wide: %s", p.path(), p.look, fault)
	}
	for _, v := range p.violations() {
		var nodes strings.Builder
		for _, n := range v.Nodes {
			fmt.Fprintf(&nodes, "\n  %s\n  %s", n.HTML, n.Summary)
		}
		p.t.Errorf("%s %s: %s: %s%s", p.path(), p.look, v.ID, v.Help, nodes.String())
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
