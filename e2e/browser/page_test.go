package browser_test

import (
	"encoding/json"
	"html"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// onSQLite runs test with one service. Pages call the services that the API calls, and the tests
// of the store and the API run these on both engines. A test of pages runs on both engines if it
// has concurrent requests or sends what only a database could refuse.
func onSQLite(t *testing.T, test func(t *testing.T, s *touchlinetest.Service), options ...touchlinetest.Option) {
	t.Helper()
	test(t, touchlinetest.New(t, storetest.SQLite(t), options...))
}

// script evaluates a JavaScript expression in the page; arguments are its parameters a, b, c.
func (p *phone) script(expression string, result any, arguments ...any) {
	p.t.Helper()
	list, err := json.Marshal(append([]any{}, arguments...))
	if err != nil {
		p.t.Fatal(err)
	}
	p.do(chromedp.Evaluate(`((a, b, c) => (`+expression+`))(...`+string(list)+`)`, result))
}

// set sets fields: names and values in turn. Of radio buttons and boxes it chooses those with
// the value.
func (p *phone) set(fields ...string) {
	p.t.Helper()
	for i := 0; i+1 < len(fields); i += 2 {
		var found int
		p.script(`(() => {
			const fields = document.getElementsByName(a)
			for (const e of fields) {
				if (e.localName === 'select' && ![...e.options].some((o) => o.value === b)) e.add(new Option(b, b)) // an older page
				if (e.type === 'radio' || e.type === 'checkbox') e.checked = e.value === b; else e.value = b
				e.dispatchEvent(new Event('input', { bubbles: true }))
				e.dispatchEvent(new Event('change', { bubbles: true }))
			}
			return fields.length
		})()`, &found, fields[i], fields[i+1])
		if found == 0 {
			p.t.Fatalf("%s has no field %q:\n%s", p.path(), fields[i], p.text())
		}
	}
}

// status returns the status of the open page.
func (p *phone) status() int {
	p.t.Helper()
	var status int
	p.script(`performance.getEntriesByType('navigation')[0].responseStatus`, &status)
	return status
}

// words returns the text of the main part of the page, also of hidden parts, with single spaces.
func (p *phone) words() string {
	p.t.Helper()
	var text string
	p.script(`document.querySelector('main').textContent`, &text)
	return strings.Join(strings.Fields(text), " ")
}

// html returns the page as the browser writes it.
func (p *phone) html() string {
	p.t.Helper()
	var text string
	p.script(`document.documentElement.outerHTML`, &text)
	return text
}

// value returns what a field holds, of radio buttons the chosen one.
func (p *phone) value(name string) string {
	p.t.Helper()
	var value string
	p.script(`([...document.getElementsByName(a)].find((e) => e.type !== 'radio' || e.checked) || { value: '' }).value`, &value, name)
	return value
}

// get opens a page and returns it.
func (p *phone) get(path string) answer {
	p.t.Helper()
	p.open(path)
	return p.answered()
}

// answered returns the open page.
func (p *phone) answered() answer {
	p.t.Helper()
	raw := p.html()
	return answer{t: p.t, status: p.status(), path: p.path(), body: html.UnescapeString(raw), raw: raw}
}

// cookie returns the value of a cookie, or "".
func (p *phone) cookie(name string) string {
	p.t.Helper()
	for _, c := range p.cookies() {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// kept is a page that stays open elsewhere.
type kept struct{ main, path string }

// keep returns the open page, for restore.
func (p *phone) keep() kept {
	p.t.Helper()
	var main string
	p.script(`document.querySelector('main').outerHTML`, &main)
	return kept{main, p.path()}
}

// restore shows the forms of an older page again, as if it had stayed open in another tab.
func (p *phone) restore(page kept) {
	p.t.Helper()
	p.script(`(() => {
		document.querySelector('main').outerHTML = a
		for (const form of document.querySelectorAll('main form:not([action])')) form.setAttribute('action', b)
	})()`, nil, page.main, page.path)
}

// wantHeading ends the test unless the page has this heading.
func (p *phone) wantHeading(want string) {
	p.t.Helper()
	if got := p.heading(); got != want {
		p.t.Fatalf("%s has the heading %q, want %q:\n%s", p.path(), got, want, p.text())
	}
}

// wantText fails the test unless the page says each of the parts.
func (p *phone) wantText(parts ...string) {
	p.t.Helper()
	text := p.words()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			p.t.Errorf("%s does not say %q:\n%s", p.path(), part, text)
		}
	}
}

// wantFault fails the test unless the page has the status 422 and the text next to a field.
func (p *phone) wantFault(field, text string) {
	p.t.Helper()
	p.wantAtField(422, field, text)
}

// wantLimit fails the test unless the page has the status 429 and the text next to a field.
func (p *phone) wantLimit(field, text string) {
	p.t.Helper()
	p.wantAtField(429, field, text)
}

func (p *phone) wantAtField(status int, field, text string) {
	p.t.Helper()
	var fault string
	p.script(`document.getElementById(a + '-fault')?.textContent || ''`, &fault, field)
	if p.status() != status || !strings.Contains(fault, text) {
		p.t.Errorf("%s: got status %d and at the field %s %q, want %q:\n%s", p.path(), p.status(), field, fault, text, p.words())
	}
}
