package browser_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	languages "github.com/touchline/touchline/internal/language"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// narrow is the width at which the pages of families are checked in each language.
const narrow = 320

// checkLanguages checks the open page of a family in the languages that looks do not have: layout and script in each in CI,
// otherwise in one in turn; the rules of axe-core from right to left and in one other in turn.
func (p *phone) checkLanguages() {
	p.t.Helper()
	if p.typed == nil {
		return
	}
	others := slices.DeleteFunc(slices.Clone(languages.Offered()), func(code string) bool { return code == "en" || code == "hi" })
	turn := others[len(p.checked)%len(others)]
	for _, code := range others {
		if !storetest.Complete() && code != turn {
			continue
		}
		a := p.auditTab()
		a.path, a.look = p.path(), code
		a.setWidth(narrow)
		if tag := a.show(p.document(code)); tag != code {
			p.t.Errorf("%s is in the language %q, want %s", a.path, tag, code)
			continue
		}
		a.checkLayout(a.path)
		a.wantScript(a.path, code, p.typed...)
		if code == turn || languages.Of(code).RightToLeft {
			a.checkRules("light")
		}
		a.screenshotForReview(a.path)
	}
}

// shownTexts lists the texts of the page, also of closed details and for screen readers, without parts in another language.
const shownTexts = `(() => {
	const texts = [document.title], lang = document.documentElement.lang
	const here = (e) => e.closest('[lang]').lang === lang && !e.closest('script, style, template, code, pre, [name=time_zone]')
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
	while (walk.nextNode()) if (here(walk.currentNode.parentElement)) texts.push(walk.currentNode.data)
	for (const e of document.body.querySelectorAll('[aria-label], [placeholder], [alt], [title]')) {
		if (here(e)) for (const name of ['aria-label', 'placeholder', 'alt', 'title']) texts.push(e.getAttribute(name) || '')
	}
	return texts.map((t) => t.trim().replace(/\s+/g, ' ')).filter((t) => t)
})()`

// wantScript fails the test for each text of the page that is not in the script of a language. typed are the texts of people.
func (p *phone) wantScript(where, code string, typed ...string) {
	p.t.Helper()
	var texts []string
	p.script(shownTexts, &texts)
	wantScript(p.t, where, code, texts, typed)
}

// origin is the name of a log, an address.
var origin = regexp.MustCompile(`\S+/log\+\S+`)

// wantScript compares texts with the script of a language. The brand, names, which may be cut, and what waits for translation stay
// as they are.
func wantScript(t *testing.T, where, code string, texts, typed []string) {
	t.Helper()
	known := strings.NewReplacer(pairs(append(slices.Clone(typed), "Touchline", "JavaScript", "JSON", "API"))...)
	for _, text := range texts {
		rest := known.Replace(origin.ReplaceAllString(text, ""))
		for _, words := range waiting() {
			rest = strings.ReplaceAll(rest, words, "")
		}
		if foreign := languages.Of(code).Foreign(rest, strings.Join(typed, " ")); len(foreign) > 0 {
			t.Errorf("%s in %s has %q in %q", where, code, foreign, text)
		}
	}
}

func pairs(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, text, "")
	}
	return all
}

// placeholders divide a text into the words around its values.
var placeholders = regexp.MustCompile(`\{\{[^}]*\}\}|</?\w[^>]*>`)

// waiting returns the words of texts that wait for translation: pages show them in English or Hindi.
var waiting = sync.OnceValue(func() (words []string) {
	list, err := os.ReadFile("../../internal/language/testdata/missing.txt")
	if err != nil {
		panic(err)
	}
	for _, code := range []string{"en", "hi"} {
		texts, err := server.TextsOf(code)
		if err != nil {
			panic(err)
		}
		for key := range strings.Lines(string(list)) {
			forms, plural := texts[strings.TrimSpace(key)].(map[string]any)
			if !plural {
				forms = map[string]any{"": texts.Text(strings.TrimSpace(key))}
			}
			for _, form := range forms {
				words = append(words, placeholders.Split(fmt.Sprint(form), -1)...)
			}
		}
	}
	return slices.DeleteFunc(words, func(text string) bool { return len(strings.TrimSpace(text)) < 2 })
})

// TestFamilyInTamil walks from the SMS to the answer, the receipt, taking it back, the export and faults. Each text is in Tamil but
// for names and brand.
func TestFamilyInTamil(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	player := touchlinetest.Minor(guardianNumber, "")
	player["guardian"].(map[string]any)["language"] = "ta"
	s.Coach(t, coachNumber).AddPlayer(t, player)
	names := []string{"Asha Rao", "Meera Nair", "Ravi Rao", "Chrome", "Linux"}
	link := linkTo(t, s, guardianNumber, 0)
	p := newPhone(t, s.URL, language("ta-IN"), width(narrow))
	check := func() {
		t.Helper()
		p.wantScript(p.path(), "ta", names...)
		p.checkLayout(p.path())
		p.screenshot("tamil" + regexp.MustCompile(`[^a-z]+`).ReplaceAllString(p.path(), "-"))
	}
	step := func(selector string) {
		t.Helper()
		p.click(selector)
		check()
	}
	p.open(link)
	check()
	step(`main form button`) // Answer
	code := s.OTP(guardianNumber, 0)
	p.fill("code", "000000")
	step(`main button.wide`)
	p.fill("code", code)
	step(`main button.wide`)
	p.wantEqualAnswers()
	step(`.answers button`) // to the check
	step(`.answers button`) // Say yes
	for _, path := range []string{"/me/guardian", "/me/guardian/receipts", "/me/guardian/export", "/me/guardian/messages", "/me/guardian/settings", "/a/closed", "/nothing"} {
		p.open(path)
		check()
	}
	var texts []string
	for _, m := range s.Gateway.Accepted() {
		if m.To == guardianNumber {
			texts = append(texts, m.Text)
		}
	}
	wantScript(t, "SMS", "ta", texts, names)
}
