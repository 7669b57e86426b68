package browser_test

import "github.com/chromedp/chromedp"

// wideWindow is the width of a window in which each page has to fit, too, in pixels.
const wideWindow = 1280

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

// checkLayout fails the test for each target of the open page that is too small, and if the page
// is wider than the window.
func (p *phone) checkLayout(path string) {
	p.t.Helper()
	var faults, wide []string
	p.do(chromedp.Evaluate(smallTargets, &faults), chromedp.Evaluate(tooWide, &wide))
	for _, fault := range append(faults, wide...) {
		p.t.Errorf("%s %s: a target has less than 44 px, or the page is too wide: %s", path, p.look, fault)
	}
}

// checkWide fails the test if the document of the tab is wider than a wide window.
func (a *auditTab) checkWide() {
	a.t.Helper()
	a.setWidth(wideWindow)
	var wide []string
	a.do(chromedp.Evaluate(tooWide, &wide))
	for _, widths := range wide {
		a.t.Errorf("%s %s: the page is wider than its window: %s", a.path, a.look, widths)
	}
}

// answer sets the reason and presses the first answer.
func (p *phone) answer(reason string) {
	p.t.Helper()
	p.set("reason", reason)
	p.click(".answers button")
}

// wantEqualAnswers fails the test unless both answers have the same size and look, in this window
// and in a wide one.
func (p *phone) wantEqualAnswers() {
	p.t.Helper()
	narrow := p.width
	p.compareAnswers()
	p.do(width(wideWindow)(p))
	p.compareAnswers()
	p.do(width(narrow)(p))
}

func (p *phone) compareAnswers() {
	p.t.Helper()
	var looks []string
	p.do(chromedp.Evaluate(`[...document.querySelectorAll('.answers button')].map(b => {
		const s = getComputedStyle(b), r = b.getBoundingClientRect()
		return [r.width, s.color, s.backgroundColor, s.borderColor, s.borderWidth, s.fontSize, s.fontWeight, s.minHeight, b.autofocus, document.activeElement === b].join(' ')
	})`, &looks))
	if len(looks) != 2 || looks[0] != looks[1] {
		p.t.Errorf("the answers look different at %d px: %q", p.width, looks)
	}
}
