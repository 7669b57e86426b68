package browser_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
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

// looks are the languages, themes and widths of checkPages. checkAccessibility checks the other
// theme of each, so all four pairs are checked.
var looks = []look{{"hi-IN", "light", 320}, {"en-IN", "dark", 360}}

type look struct {
	language, theme string
	width           int64
}

// setLook sets the language, theme and width of the next page.
func (p *phone) setLook(l look) {
	p.t.Helper()
	p.look = l.language[:2] + "-" + l.theme
	p.do(language(l.language)(p), colors(l.theme), width(l.width)(p))
	p.theme = l.theme
}

// checkPages checks the pages of base and each path in each of the looks.
func (p *phone) checkPages(base string, paths ...string) {
	p.t.Helper()
	for _, path := range paths {
		for i, look := range looks {
			p.setLook(look)
			if i == 0 {
				p.checkPage(base + path)
				continue
			}
			p.translate(look.language)
			p.checkAccessibility()
			p.screenshotForReview()
		}
	}
	p.resetTheme()
}

// checkStep opens a page in each of the looks, takes the steps that lead from there to another
// page, and checks that one.
func (p *phone) checkStep(path string, steps ...func()) {
	p.t.Helper()
	for _, look := range looks {
		p.setLook(look)
		p.checkPage(path, steps...)
	}
	p.resetTheme()
}

// resetTheme ends the emulation of a theme.
func (p *phone) resetTheme() {
	p.t.Helper()
	p.do(emulation.SetEmulatedMedia())
	p.theme, p.look = "", ""
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

// translate replaces the open document by the one that the service sends in another language.
// The scripts of the page do not run again; checkPage checks the page with them. The compiled
// code of axe-core stays, which takes half of the time of a check.
func (p *phone) translate(language string) {
	p.t.Helper()
	req, err := http.NewRequest("GET", p.url+p.path(), http.NoBody)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Accept-Language", language)
	resp, err := p.client().Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	document, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if got := resp.Request.URL.String(); got != req.URL.String() {
		p.t.Fatalf("%s leads to %s in %s", req.URL, got, language)
	}
	text, err := json.Marshal(string(document))
	if err != nil {
		p.t.Fatal(err)
	}
	var tag string
	p.do(chromedp.Evaluate(`(async () => {
		const next = new DOMParser().parseFromString(`+string(text)+`, 'text/html')
		document.documentElement.replaceWith(document.adoptNode(next.documentElement))
		const sheets = [...document.querySelectorAll('link[rel=stylesheet]')].filter((link) => !link.sheet)
		await Promise.all(sheets.map((link) => new Promise((done) => { link.onload = link.onerror = done })))
		return document.documentElement.lang
	})()`, &tag, awaitPromise))
	if tag != language[:2] {
		p.t.Errorf("%s is in the language %q, want %s", p.path(), tag, language)
	}
}

// checkAccessibility fails the test for each target of the open page that is too small, for
// each rule that the page breaks in the light or the dark theme, and if the page is wider than
// the window.
func (p *phone) checkAccessibility() {
	p.t.Helper()
	var faults, wide []string
	p.do(chromedp.Evaluate(smallTargets, &faults), chromedp.Evaluate(tooWide, &wide))
	for _, fault := range append(faults, wide...) {
		p.t.Errorf("%s %s: a target has less than 44 px, or the page is too wide: %s", p.path(), p.look, fault)
	}
	p.report(p.violations(allRules))
	theme := p.theme
	other := map[string]string{"": "dark", "light": "dark", "dark": "light"}[theme]
	p.do(colors(other))
	p.theme = other
	p.report(p.violations(colorRules))
	if theme == "" {
		p.do(emulation.SetEmulatedMedia())
	} else {
		p.do(colors(theme))
	}
	p.theme = theme
}

// report fails the test for each violation.
func (p *phone) report(violations []violation) {
	p.t.Helper()
	for _, v := range violations {
		var nodes strings.Builder
		for _, n := range v.Nodes {
			fmt.Fprintf(&nodes, "\n  %s\n  %s", n.HTML, n.Summary)
		}
		p.t.Errorf("%s %s, theme %q: %s: %s%s", p.path(), p.look, p.theme, v.ID, v.Help, nodes.String())
	}
}

// colors asks pages for the colours of a theme, "light" or "dark".
func colors(theme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}})
}

const (
	// allRules are the rules of axe-core for WCAG and good practice.
	allRules = `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']`
	// colorRules are those of allRules that compare colours. The stylesheets define only colours
	// in prefers-color-scheme, so elements, names, sizes and places, on which the other rules
	// depend, are the same in both themes.
	colorRules = `['color-contrast', 'link-in-text-block']`
)

// awaitPromise lets Evaluate wait for the promise that a script returns.
func awaitPromise(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }

// violations runs rules of axe-core on the open page.
func (p *phone) violations(rules string) []violation {
	p.t.Helper()
	var result string
	if !p.hasAxe {
		p.do(chromedp.Evaluate(axe, nil), chromedp.ActionFunc(func(ctx context.Context) error {
			_, err := page.AddScriptToEvaluateOnNewDocument(axe).Do(ctx) // sent once, for all later pages
			return err
		}))
		p.hasAxe = true
	}
	p.do(chromedp.Evaluate(`axe.run(document, { runOnly: `+rules+`, preload: false, iframes: false, resultTypes: ['violations'] })
		.then(r => JSON.stringify(r.violations))`, &result, awaitPromise))
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
	if found := p.violations(allRules); len(found) < 2 {
		t.Errorf("got %v, want an image without a text and a contrast that is too low", found)
	}
	p.open("data:text/html,<html lang=en><title>Pale</title><style>body{background:white;color:black}@media (prefers-color-scheme:dark){p{color:%23999}}</style><body><main><h1>Black</h1><p>pale in the dark</main></body></html>")
	for theme, want := range map[string]int{"light": 0, "dark": 1} {
		p.do(colors(theme))
		if found := p.violations(colorRules); len(found) != want {
			t.Errorf("%s: got %v, want %d violations", theme, found, want)
		}
	}
}
