package browser_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// phone is a browser context with one tab and separate cookies.
type phone struct {
	t       *testing.T
	ctx     context.Context
	profile cdp.BrowserContextID
	url     string
	width   int64
	// audit is the tab in which axe-core runs, nil before its first use.
	audit *auditTab
	// look is the language and theme of checkPages, and theme the theme that the phone asks for now.
	look, theme string
	// typed are the texts of people on the pages, which stay in their language; nil if the pages have only the languages of looks.
	typed []string
	// checked has the path of each page that checkPage checked.
	checked []string
	// keyStore is the key store of authenticator.
	keyStore webauthn.AuthenticatorID
}

// setting changes a phone before its first page.
type setting func(*phone) chromedp.Action

// language sets the languages that the browser asks for.
func language(tag string) setting {
	return func(*phone) chromedp.Action {
		return emulation.SetUserAgentOverride("").WithAcceptLanguage(tag)
	}
}

// withoutScripts switches JavaScript off.
func withoutScripts() setting {
	return func(*phone) chromedp.Action { return emulation.SetScriptExecutionDisabled(true) }
}

// width sets the width of the window, in CSS pixels. The default is 360.
func width(pixels int64) setting {
	return func(p *phone) chromedp.Action {
		p.width = pixels
		return emulation.SetDeviceMetricsOverride(pixels, 800, 1, pixels < 600)
	}
}

// newPhone opens a browser for the service at url, without cookies and stored data. A page of
// another host fails the test.
func newPhone(t *testing.T, url string, settings ...setting) *phone {
	t.Helper()
	browser := startBrowser(t)
	profile := newProfile(t, browser)
	p := &phone{t: t, ctx: newTab(t, browser, profile), url: url, profile: profile}
	actions := []chromedp.Action{emulation.SetFocusEmulationEnabled(true), fewerEvents(), network.ClearBrowserCookies(), storage.ClearDataForOrigin(url, "all")}
	for _, s := range append([]setting{width(360), language("en-IN")}, settings...) {
		actions = append(actions, s(p))
	}
	p.watchPolicy()
	p.do(actions...)
	return p
}

// watchPolicy fails the test at what the policy of a page blocks, such as a request to another
// host. Styles of elements come from checkLayout, which the audit tab copies, and frames are
// those that its own page blocks.
func (p *phone) watchPolicy() {
	chromedp.ListenTarget(p.ctx, func(event any) {
		got, ok := event.(*cdplog.EventEntryAdded)
		if !ok || got.Entry.Source != cdplog.SourceSecurity {
			return
		}
		if text := got.Entry.Text; !strings.HasPrefix(text, "Applying inline style") && !strings.HasPrefix(text, "Framing '"+p.url) {
			p.t.Errorf("%s: %s", got.Entry.URL, text)
		}
	})
}

// do runs actions and fails the test at the first error.
func (p *phone) do(actions ...chromedp.Action) {
	p.t.Helper()
	const tries = 5
	var err error
	for range tries { // a page that leads to another one by itself ends the scripts of the first
		if err = chromedp.Run(p.ctx, actions...); err == nil || !strings.Contains(err.Error(), "context was destroyed") {
			break
		}
	}
	if err != nil {
		p.t.Fatalf("%v\n%s", err, p.text())
	}
}

// open goes to a path of the service.
func (p *phone) open(path string) {
	p.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = p.url + path
	}
	err := p.load(func(ctx context.Context) error {
		_, _, _, _, err := page.Navigate(path).Do(ctx)
		return err
	})
	if err != nil {
		p.t.Fatalf("open %s: %v\n%s", path, err, p.text())
	}
}

// text returns the text of the page, for messages of failed tests.
func (p *phone) text() string {
	var text string
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	_ = chromedp.Run(ctx, chromedp.Evaluate(`document.body.innerText`, &text))
	return text
}

// heading returns the first heading of the page. A page that just leads to another one has none yet.
func (p *phone) heading() string {
	p.t.Helper()
	for end := time.Now().Add(loadTimeout); ; time.Sleep(20 * time.Millisecond) {
		var text string
		p.do(chromedp.Evaluate(`document.querySelector('h1')?.innerText ?? ''`, &text))
		if text != "" {
			return strings.Join(strings.Fields(text), " ")
		}
		if time.Now().After(end) {
			p.t.Fatalf("the page has no heading:\n%s", p.text())
		}
	}
}

// path returns the path and query of the page.
func (p *phone) path() string {
	p.t.Helper()
	var address string
	p.do(chromedp.Location(&address))
	return strings.TrimPrefix(address, p.url)
}

// press clicks the button or link with this text, in the main part of the page if it is there,
// and waits for the next page. Before that it opens the details around it and sets fields: names
// and values in turn.
func (p *phone) press(text string, fields ...string) {
	p.t.Helper()
	p.set(fields...)
	match := `*[self::button or self::a or self::summary][normalize-space()="` + text + `"]`
	target := `(//main//` + match + ` | //body[not(.//main//` + match + `)]//` + match + `)[1]`
	element := `(() => {
		const e = document.evaluate(` + strconv.Quote(target) + `, document, null, 9, null).singleNodeValue
		for (let d = e?.closest('details'); d && e.localName !== 'summary'; d = d.parentElement.closest('details')) d.open = true
		return e
	})()`
	if err := p.load(func(ctx context.Context) error { return press(ctx, element) }); err != nil {
		p.t.Fatalf("press %q: %v\n%s", text, err, p.text())
	}
}

// screenshotWidths returns the widths at which a test opens pages for screenshots only: none
// unless TOUCHLINE_TEST_SCREENSHOTS is set.
func screenshotWidths() []int64 {
	if os.Getenv("TOUCHLINE_TEST_SCREENSHOTS") == "" {
		return nil
	}
	return []int64{360, 1280}
}

// screenshot saves the whole page if TOUCHLINE_TEST_SCREENSHOTS names a folder.
func (p *phone) screenshot(name string) {
	p.t.Helper()
	folder := os.Getenv("TOUCHLINE_TEST_SCREENSHOTS")
	if folder == "" {
		return
	}
	var picture []byte
	p.do(chromedp.FullScreenshot(&picture, 100))
	path := filepath.Join(folder, fmt.Sprintf("%s-%d.png", name, p.width))
	if err := os.WriteFile(path, picture, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// screenshotForReview saves the open page under the name of a path, at several widths, and with
// text of 200 %, if TOUCHLINE_TEST_SCREENSHOTS names a folder.
func (p *phone) screenshotForReview(path string) {
	p.t.Helper()
	if len(screenshotWidths()) == 0 {
		return
	}
	path, _, _ = strings.Cut(path, "?")
	name := p.look + regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|(/a|unsubscribe)/[^/]{9,}|[^a-z]+`).ReplaceAllString(path, "-")
	before := p.width
	for _, pixels := range []int64{320, 360, 1280} {
		p.do(width(pixels)(p))
		p.screenshot("review-" + name)
	}
	p.do(width(before)(p), chromedp.Evaluate(`document.documentElement.style.fontSize = '200%'`, nil))
	p.screenshot("review-big-" + name)
}

// submit presses the first wide button of the page and waits for the next page.
func (p *phone) submit() {
	p.t.Helper()
	p.click("main button.wide")
}
