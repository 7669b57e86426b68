package browser_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

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

// tooWide reports the widths of the page and of the window, and an element outside, if the page scrolls sideways, as it
// is and with text of 200 %.
const tooWide = `['', '200%'].flatMap((size) => {
	const root = document.documentElement
	root.style.fontSize = size
	const outside = (e) => e.getBoundingClientRect().right > root.clientWidth || e.getBoundingClientRect().left < 0
	const widths = root.scrollWidth > root.clientWidth ? [(size || '100%') + ': ' + root.scrollWidth + ' in ' + root.clientWidth + ' ' + [...document.querySelectorAll('main *')].filter(outside).pop()?.outerHTML.slice(0, 200)] : []
	root.style.fontSize = ''
	return widths
})`

// cutButtons lists the buttons whose text is broken within a word, or with text of 200 % is not whole.
const cutButtons = `['', '200%'].flatMap((size) => {
	document.documentElement.style.fontSize = size
	const cut = [...document.querySelectorAll('button, a.button')].filter((b) => {
		if (!b.checkVisibility() || getComputedStyle(b).display === 'inline' || b.closest('.visually-hidden, .skip')) return false
		if (size === '' && !/\S{25}/.test(b.innerText)) b.style.overflowWrap = 'normal' // a longer word fits nowhere
		const outside = b.scrollWidth > b.clientWidth + 1 || b.scrollHeight > b.clientHeight + 1
		b.style.overflowWrap = ''
		return outside
	})
	document.documentElement.style.fontSize = ''
	return cut.map((b) => (size || '100%') + ': ' + b.innerText)
})`

// checkLayout fails the test for each target of the open page that is too small, for each button that cuts its text, and if the
// page is wider than the window.
func (p *phone) checkLayout(path string) {
	p.t.Helper()
	var faults, cut, wide []string
	p.do(chromedp.Evaluate(smallTargets, &faults), chromedp.Evaluate(cutButtons, &cut), chromedp.Evaluate(tooWide, &wide))
	for _, fault := range slices.Concat(faults, cut, wide) {
		p.t.Errorf("%s %s: a target has less than 44 px, a button cuts its text, or the page is too wide: %s", path, p.look, fault)
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
	var broken []string
	p.do(chromedp.Evaluate(`[...document.querySelectorAll('.answers button')].filter(b => {
		b.style.overflowWrap = 'normal'
		const breaks = b.scrollWidth > b.clientWidth
		b.style.overflowWrap = ''
		return breaks
	}).map(b => b.innerText)`, &broken))
	if len(broken) > 0 {
		p.t.Errorf("%d px break a name within a word: %q", p.width, broken)
	}
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

// TestButtonsOfListAlign checks that a long name does not move the button of its row to the next
// line, in a narrow and in a wide window.
func TestButtonsOfListAlign(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	batch := coach.Call(t, "POST", "/api/batches", map[string]any{"name": "U12"}).Want(t, 201).String("batch_id")
	for _, name := range []string{"Bela Shah", "Lakshminarasimhacharyulu Asha Venkatasubramanian"} {
		player := coach.AddPlayer(t, named(name, guardianNumber, "")).String("player_id")
		coach.Call(t, "PUT", "/api/batches/"+batch+"/players/"+player, nil).Want(t, 204)
	}
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber)
	for _, pixels := range []int64{360, wideWindow} {
		p.do(width(pixels)(p))
		p.open("/coach/batches/" + batch)
		var edges []float64
		p.do(chromedp.Evaluate(`[...document.querySelectorAll('.lines button.link')].map(b => b.getBoundingClientRect().right)`, &edges))
		if len(edges) != 2 || edges[0] != edges[1] {
			t.Errorf("at %d px the buttons end at %v", pixels, edges)
		}
	}
}

// displacedBoxes lists the rows with a checkbox whose text is not beside it: on a line below the
// checkbox, or under it. The row is the label with the text, or the table row or list item.
const displacedBoxes = `[...document.querySelectorAll('main input[type=checkbox]')].flatMap((box) => {
	const row = box.closest('tr, li') || box.closest('label')
	const at = box.getBoundingClientRect(), range = document.createRange()
	const texts = [...row.querySelectorAll('*'), row].flatMap((e) => [...e.childNodes]).filter((n) => n.nodeType === 3 && n.data.trim() && !n.parentElement.closest('.visually-hidden'))
	const lines = texts.flatMap((n) => { range.selectNodeContents(n); return [...range.getClientRects()] })
	const under = lines.filter((l) => l.left < at.right && at.left < l.right && l.top < at.bottom && at.top < l.bottom)
	const beside = lines.some((l) => l.top < at.bottom && at.top < l.bottom)
	return under.length || !beside ? [row.textContent.trim().slice(0, 40) + ' ' + JSON.stringify([at, ...lines.slice(0, 2)])] : []
})`

// TestNamesBesideCheckboxes checks that a long name stays beside its checkbox.
func TestNamesBesideCheckboxes(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), enableKYC)
	coach := s.Coach(t, coachNumber)
	long := strings.Repeat("Lakshminarasimha ", 5) + "Venkatasubraman"
	for _, name := range []string{long, strings.Repeat("W", 100)} {
		coach.Call(t, "POST", "/api/batches", map[string]any{"name": name}).Want(t, 201)
		coach.AddPlayer(t, named(name, guardianNumber, studentNumber))
		coach.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(100, len(name)), "title", name).Want(t, 201)
	}
	batch := coach.Call(t, "GET", "/api/batches", nil).Items()[0]["batch_id"].(string)
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber)
	for _, pixels := range []int64{360, wideWindow} {
		p.do(width(pixels)(p))
		for _, path := range []string{"/coach/players?select=1", "/coach/players/add", "/coach/batches/" + batch + "/players", "/coach/verification"} {
			p.open(path)
			p.screenshot("checkboxes-" + strings.ReplaceAll(path, "/", "-"))
			var boxes int
			var displaced []string
			p.do(chromedp.Evaluate(`document.querySelectorAll('main input[type=checkbox]').length`, &boxes), chromedp.Evaluate(displacedBoxes, &displaced))
			for _, row := range displaced {
				t.Errorf("%s at %d px: the text is not beside the checkbox: %s", path, pixels, row)
			}
			if boxes < 2 {
				t.Errorf("%s has %d checkboxes", path, boxes)
			}
			p.checkLayout(path)
		}
	}
}
