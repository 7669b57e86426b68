package browser_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/store/storetest"
)

// looks are the languages, themes and widths of checkPages. Each language is checked in one theme:
// no colour depends on the language.
var looks = []look{{"hi-IN", "light", 320}, {"en-IN", "dark", 360}}

type look struct {
	language, theme string
	width           int64
}

// name returns the language and the theme.
func (l look) name() string { return l.language[:2] + "-" + l.theme }

// setLook sets the language, theme and width of the next page.
func (p *phone) setLook(l look) {
	p.t.Helper()
	if p.look == l.name() {
		return
	}
	p.look = l.name()
	p.do(language(l.language)(p), colors(l.theme), width(l.width)(p))
	p.theme = l.theme
}

// looksOfNext returns the looks in which the next page is checked: all in CI, otherwise one in turn.
func (p *phone) looksOfNext() []look {
	if storetest.Complete() {
		return looks
	}
	return looks[len(p.checked)%len(looks):][:1]
}

// checkPages checks the pages of base and each path in its looks. The phone opens a page in the
// first one. For the others the audit tab shows the document that the service sends.
func (p *phone) checkPages(base string, paths ...string) {
	p.t.Helper()
	for _, path := range paths {
		chosen := p.looksOfNext()
		p.setLook(chosen[0])
		p.checkPage(base + path)
		for _, look := range chosen[1:] {
			a := p.auditTab()
			a.path, a.look = p.path(), look.name()
			a.setWidth(look.width)
			if tag := a.show(p.document(look.language)); tag != look.language[:2] {
				p.t.Errorf("%s is in the language %q, want %s", a.path, tag, look.language)
			}
			a.checkLayout(a.path)
			a.checkRules(look.theme)
			a.screenshotForReview(a.path)
		}
		p.auditTab().checkWide()
		p.checkLanguages()
	}
	p.resetTheme()
}

// checkStep opens a page in each of its looks, takes the steps that lead from there to another
// page, and checks that one.
func (p *phone) checkStep(path string, steps ...func()) {
	p.t.Helper()
	for _, look := range p.looksOfNext() {
		p.setLook(look)
		p.checkPage(path, steps...)
	}
	p.auditTab().checkWide()
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
	p.screenshotForReview(p.path())
	path, _, _ = strings.Cut(path, "?")
	p.checked = append(p.checked, path)
}

// document returns the open page as the service sends it in another language.
func (p *phone) document(language string) string {
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
	return string(document)
}

// checkAccessibility fails the test for each fault of layout of the open page, and for each rule
// that the page breaks in the theme of its look, or without a look in both.
func (p *phone) checkAccessibility() {
	p.t.Helper()
	path := p.path()
	p.checkLayout(path)
	a := p.auditTab()
	a.path, a.look = path, p.look
	a.setWidth(p.width)
	var document string
	p.script(withState, &document)
	a.show(document)
	a.checkRules(p.theme)
}

// colors asks pages for the colours of a theme, "light" or "dark".
func colors(theme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}})
}

// awaitPromise lets Evaluate wait for the promise that a script returns.
func awaitPromise(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }

// TestAxeFindsViolations checks that the audit tab finds faults, in each theme, in a box that was
// checked after the page was loaded, and in a word in Devanagari.
func TestAxeFindsViolations(t *testing.T) {
	t.Parallel()
	p := newPhone(t, "")
	a := p.auditTab()
	p.open("data:text/html,<html><body><img src=x><p style='color:%23999'>pale</p></body></html>")
	a.show(p.html())
	if found := a.violations(allRules); len(found) < 2 {
		t.Errorf("got %v, want an image without a text and a contrast that is too low", found)
	}
	p.open("data:text/html,<html lang=en><title>Pale</title><style>body{background:white;color:black}@media (prefers-color-scheme:dark){p{color:%23999}}</style><body><main><h1>Black</h1><p>pale in the dark</main></body></html>")
	a.show(p.html())
	for theme, want := range map[string]int{"light": 0, "dark": 1} {
		a.setTheme(theme)
		if found := a.violations(colorRules); len(found) != want {
			t.Errorf("%s: got %v, want %d violations", theme, found, want)
		}
	}
	p.open("data:text/html,<html lang=en><title>Box</title><style>body{background:white;color:black}:checked~p{color:%23999}</style><body><main><h1>Black</h1><input type=checkbox aria-label=Box><p>pale if checked</main></body></html>")
	a.setTheme("light")
	for want := range 2 {
		var document string
		p.script(withState, &document)
		a.show(document)
		if found := a.violations(colorRules); len(found) != want {
			t.Errorf("got %v with %d checked boxes", found, want)
		}
		p.tap("input")
	}
	p.open("data:text/html;charset=utf-8,<html lang=hi><title>Word</title><style>body{background:white;color:%23999}</style><body><main><h1>स्थिति</h1></main></body></html>")
	a.show(p.html())
	if found := a.violations(colorRules); len(found) != 1 {
		t.Errorf("got %v, want a contrast that is too low", found)
	}
}
