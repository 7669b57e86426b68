package browser_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/emulation"
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

const (
	// allRules are the rules of axe-core for WCAG and good practice.
	allRules = `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']`
	// colorRules are the rules of allRules that compare colours. The stylesheets define only colours
	// in prefers-color-scheme, so elements, names, sizes and places, on which the other rules
	// depend, are the same in both themes.
	colorRules = `['color-contrast', 'link-in-text-block']`
)

// noIconFonts stops the search of axe-core for fonts with icons. It draws words, and skips the
// contrast of those that look like one icon, such as "स्थिति". The pages have no such fonts.
const noIconFonts = `CanvasRenderingContext2D.prototype.getImageData = () => ({ data: new Uint32Array([1]) })`

// auditTab is a second tab of a phone, in which axe-core runs. It shows the documents of all
// pages one after the other, so that axe-core is compiled and initialized once. In each page that
// would take longer than its rules.
type auditTab struct {
	*phone
	// path is the page that the tab shows.
	path string
}

// auditTab returns the audit tab of the phone.
func (p *phone) auditTab() *auditTab {
	p.t.Helper()
	if p.audit == nil {
		p.audit = &auditTab{phone: &phone{t: p.t, ctx: newTab(p.t, p.ctx, p.profile), url: p.url}}
		p.audit.watchPolicy()
		p.audit.do(emulation.SetFocusEmulationEnabled(true), fewerEvents())
		if p.url != "" { // a page without live parts, on the host of the stylesheets and pictures
			p.audit.open("/coaches/none")
			var mode string
			if p.audit.script(`document.compatMode + ' ' + document.body.dataset.events`, &mode); mode != "CSS1Compat undefined" {
				p.t.Fatalf("the page of the audit tab is %q", mode)
			}
		}
		p.audit.do(chromedp.Evaluate(axe, nil), chromedp.Evaluate(noIconFonts, nil))
	}
	return p.audit
}

// withState is the HTML of the open page with what the fields hold now.
const withState = `(() => {
	const copy = document.documentElement.cloneNode(true)
	for (const e of copy.querySelectorAll('input')) {
		e.toggleAttribute('checked', e.checked)
		if (!['file', 'password'].includes(e.type)) e.setAttribute('value', e.value)
	}
	for (const e of copy.querySelectorAll('textarea')) e.textContent = e.value
	return copy.outerHTML
})()`

// show replaces the document of the tab and returns the language of the new one. The scripts of
// the new document do not run.
func (a *auditTab) show(document string) string {
	a.t.Helper()
	text, err := json.Marshal(document)
	if err != nil {
		a.t.Fatal(err)
	}
	var language string
	a.do(chromedp.Evaluate(`(async () => {
		const next = new DOMParser().parseFromString(`+string(text)+`, 'text/html')
		document.documentElement.replaceWith(document.adoptNode(next.documentElement))
		const sheets = [...document.querySelectorAll('link[rel=stylesheet]')].filter((link) => !link.sheet)
		await Promise.all(sheets.map((link) => new Promise((done) => { link.onload = link.onerror = done })))
		for (const link of sheets) if (!link.sheet) throw new Error(link.href + ' did not load')
		return document.documentElement.lang
	})()`, &language, awaitPromise))
	return language
}

// setWidth sets the width of the window if it is another one.
func (a *auditTab) setWidth(pixels int64) {
	a.t.Helper()
	if a.width != pixels {
		a.do(width(pixels)(a.phone))
	}
}

// setTheme asks for the colours of a theme if the tab has other ones.
func (a *auditTab) setTheme(theme string) {
	a.t.Helper()
	if a.theme != theme {
		a.do(colors(theme))
		a.theme = theme
	}
}

// checkRules fails the test for each rule that the document breaks in a theme. Without a theme it
// is the light one, and the rules of colours are checked in the dark one, too.
func (a *auditTab) checkRules(theme string) {
	a.t.Helper()
	checks := []struct{ theme, rules string }{{theme, allRules}}
	if theme == "" {
		checks = []struct{ theme, rules string }{{"light", allRules}, {"dark", colorRules}}
	}
	for _, check := range checks {
		a.setTheme(check.theme)
		for _, v := range a.violations(check.rules) {
			var nodes strings.Builder
			for _, n := range v.Nodes {
				fmt.Fprintf(&nodes, "\n  %s\n  %s", n.HTML, n.Summary)
			}
			a.t.Errorf("%s %s, theme %q: %s: %s%s", a.path, a.look, a.theme, v.ID, v.Help, nodes.String())
		}
	}
}

// violations runs rules of axe-core on the document.
func (a *auditTab) violations(rules string) []violation {
	a.t.Helper()
	var result string
	a.do(chromedp.Evaluate(`axe.run(document, { runOnly: `+rules+`, preload: false, iframes: false, resultTypes: ['violations'] })
		.then(r => JSON.stringify(r.violations))`, &result, awaitPromise))
	var violations []violation
	if err := json.Unmarshal([]byte(result), &violations); err != nil {
		a.t.Fatal(err)
	}
	return violations
}
