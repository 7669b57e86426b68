package browser_test

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/cmd/touchline/demo"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
)

// The numbers of people of the demo club, and one that it does not know.
const (
	demoCoach    = "+919812300001"
	demoGuardian = "+919812300011"
	demoAsked    = "+919812300099"
)

// The most that a first load may weigh in bytes, compressed and without pictures.
const (
	coachPageBytes  = 20 << 10
	familyPageBytes = 14 << 10
)

// printed is what a service prints: the codes and links that it would send.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

// wait returns the first group of the first match of pattern after the position from, and the position after it.
func (p *printed) wait(t *testing.T, pattern string, from int) (string, int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		text := p.text.String()
		p.mu.Unlock()
		if m := regexp.MustCompile(pattern).FindStringSubmatchIndex(text[from:]); m != nil {
			return text[from+m[2] : from+m[3]], from + m[1]
		}
	}
	t.Fatalf("the service printed nothing like %s", pattern)
	return "", 0
}

// end returns the position after everything that was printed.
func (p *printed) end() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Len()
}

// demoClub starts a service with the club of the command demo, and returns its address.
func demoClub(t *testing.T) (url string, out *printed) {
	t.Helper()
	var listeners []net.Listener
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, l)
	}
	cfg, err := config.Load([]string{
		"--addr=" + listeners[0].Addr().String(), "--admin-addr=" + listeners[1].Addr().String(), "--data-dir=" + filepath.Join(t.TempDir(), "data"),
		"--countries=IN", "--kyc=on", "--requests-per-address-minute=0", "--shutdown-drain=0s",
	}, nil, server.CheckTiers, server.CheckNotice)
	if err != nil {
		t.Fatal(err)
	}
	cfg = cfg.WithListenAddr(listeners[0].Addr())
	var clock demo.Clock
	var terminal demo.Terminal
	out = new(printed)
	app, err := server.Open(t.Context(), cfg, server.Options{Now: clock.Now, Log: slog.New(slog.DiscardHandler), Terminal: io.MultiWriter(&terminal, out)})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- app.Serve(t.Context(), listeners[0], listeners[1]) }()
	t.Cleanup(func() {
		if err := <-served; err != nil {
			t.Error(err)
		}
		app.Close()
	})
	ops, err := server.OpenOperators(t.Context(), cfg, server.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ops.Close()
	_, token, err := ops.Tokens.Create(t.Context(), actor.Operator{Name: operator.ShellName("demo")}, operator.TokenRequest{Name: "demo", Scopes: operator.Scopes, Days: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = demo.Build(t.Context(), demo.Service{
		URL: cfg.PublicURL, AdminURL: "http://" + listeners[1].Addr().String(), OperatorToken: token, Clock: &clock, Terminal: &terminal,
	})
	if err != nil {
		t.Fatal(err)
	}
	return cfg.PublicURL, out
}

// demoPhone returns a phone of 360 x 740 whose user is signed in to the demo club.
func demoPhone(t *testing.T, url string, out *printed, role, number string) *phone {
	t.Helper()
	p := newPhone(t, url)
	p.do(network.Enable(), network.SetBypassServiceWorker(true)) // a first load has no service worker
	p.do(emulation.SetDeviceMetricsOverride(360, 740, 1, true))
	p.open("/sign-in/" + role)
	before := out.end()
	p.fill("number", number)
	p.submit()
	code, _ := out.wait(t, `\b(\d{6})\b`, before)
	p.fill("code", code)
	p.submit()
	return p
}

// top returns the y position of the first element of a selector on the page.
func (p *phone) top(selector string) (y float64) {
	p.t.Helper()
	p.script(`document.querySelector(a).getBoundingClientRect().top + scrollY`, &y, selector)
	return y
}

// link returns the first address in the page that matches pattern.
func (p *phone) link(pattern string) string {
	p.t.Helper()
	var links []string
	p.script(`[...document.querySelectorAll('main a')].map((a) => a.getAttribute('href'))`, &links)
	at := slices.IndexFunc(links, regexp.MustCompile(pattern).MatchString)
	if at < 0 {
		p.t.Fatalf("%s has no link %s: %q", p.path(), pattern, links)
	}
	return links[at]
}

// weight returns the compressed bytes of the open page with its styles and scripts.
func (p *phone) weight() (bytes float64) {
	p.t.Helper()
	p.script(`[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource').filter((e) => /\.(css|js)/.test(e.name))].reduce((sum, e) => sum + e.encodedBodySize, 0)`, &bytes)
	return bytes
}

// TestFiguresOfDemoClub measures the pages that coaches and families open most, at 360 x 740: what a page is
// opened for is in the first view, targets have 44 px, and a first load is small.
func TestFiguresOfDemoClub(t *testing.T) {
	t.Parallel()
	needFonts(t)
	url, out := demoClub(t)
	most := func(what string, got, want float64) {
		t.Helper()
		t.Logf("%s: %.0f, want at most %.0f", what, got, want)
		if got > want {
			t.Errorf("%s: %.0f, want at most %.0f", what, got, want)
		}
	}
	coach := demoPhone(t, url, out, "coach", demoCoach)
	check := func(p *phone, path string, bytes float64) {
		t.Helper()
		p.open(path)
		p.checkLayout(path)
		most("bytes of "+path, p.weight(), bytes)
	}

	check(coach, "/coach", coachPageBytes)
	var inside bool
	coach.script(`(() => { const bar = document.querySelector('.five').getBoundingClientRect(); return bar.bottom === innerHeight && [...document.querySelectorAll('.five a')].filter((a) => a.checkVisibility()).length === 5 })()`, &inside)
	if !inside {
		t.Error("the bar of five is not at the bottom of the window")
	}
	most("filled buttons on Today", float64(coach.filled()), 1)
	// A guardian of the demo has replied, and the coach has not read it.
	if got := coach.count(`.five [href='/coach/messages'] .count`); got != 1 {
		t.Errorf("the bar has %d counts of replies, want 1", got)
	}

	check(coach, "/coach/players", coachPageBytes)
	most("top of the first player", coach.top(".roster li"), 260)
	most("filled buttons of the roster", float64(coach.filled()), 1)

	// Every player, in every state: the pages of the tallest ones, too.
	var players []string
	coach.script(`[...document.querySelectorAll('.roster a')].map((a) => a.getAttribute('href'))`, &players)
	for _, path := range players {
		check(coach, path, coachPageBytes)
		var height float64
		coach.script(`document.documentElement.scrollHeight`, &height)
		most("height of "+coach.heading(), height, 1200)
		most("filled buttons of "+coach.heading(), float64(coach.filled()), 1)
	}

	coach.open("/coach/batches")
	coach.open(coach.link(`^/coach/batches/[0-9a-f-]{36}$`)) // the newest batch has every player
	sheet := coach.link(`/attendance/`)
	check(coach, sheet, coachPageBytes)
	most("top of the first mark", coach.top(".marks b"), 220)
	var names int
	coach.script(`(() => {
		const end = document.querySelector('.save-bar').getBoundingClientRect().top
		return [...document.querySelectorAll('.marks legend')].filter((e) => e.getBoundingClientRect().bottom <= end).length
	})()`, &names)
	if names < 9 {
		t.Errorf("%d names in the first view, want at least 9", names)
	}
	var small int
	coach.script(`[...document.querySelectorAll('.marks b, .marks [type=radio], .day-line a, .rest, .save-bar button')].filter((e) => { const box = e.getBoundingClientRect(); return box.width < 44 || box.height < 44 }).length`, &small)
	if small > 0 {
		t.Errorf("%d targets of the sheet have less than 44 px", small)
	}
	// 14 children, two of them absent and one late: five taps. Each child alone takes 14 more.
	coach.tap(".rest")
	coach.tap(`.marks fieldset:nth-child(2) [value=a]`)
	coach.tap(`.marks fieldset:nth-child(5) [value=a]`)
	coach.tap(`.marks fieldset:nth-child(7) [value=l]`)
	coach.waitForText("12 here · 2 absent")
	coach.press("Save")
	coach.waitForText("Saved.")

	height := func(p *phone) (pixels float64) {
		t.Helper()
		p.script(`document.documentElement.scrollHeight`, &pixels)
		return pixels
	}
	for _, path := range []string{"/coach/batches", "/coach/messages", "/coach/messages/write", "/coach/fees", "/coach/notifications", "/coach/settings", "/coach/more"} {
		check(coach, path, coachPageBytes)
		most("filled buttons of "+path, float64(coach.filled()), 1)
		if limit := map[string]float64{"/coach/notifications": 1500, "/coach/settings": 2000}[path]; limit > 0 {
			most("height of "+path, height(coach), limit)
		}
	}

	// A reply is answered in two taps, and then nothing is unread.
	coach.open("/coach")
	coach.click(`.needs a[href*="/coach/conversations/"]`)
	coach.waitUntil(`document.querySelector('.composer') !== null`)
	coach.fill("text", "See you at six.")
	coach.press("Send")
	coach.waitForText("The message is on its way.")
	if got := coach.count(`.five [href='/coach/messages'] .count`); got != 0 {
		t.Errorf("the bar has %d counts of replies after the answer, want 0", got)
	}
	var order bool
	coach.script(`document.querySelector('.thread .bubble:last-of-type').innerText.includes('See you at six.') && document.querySelector('.composer').getBoundingClientRect().bottom <= innerHeight`, &order)
	if !order {
		t.Errorf("the newest message is not the last, or the form is not in view: %s", coach.words())
	}

	// A message to three chosen players takes six taps on the page of messages.
	coach.open("/coach/messages")
	coach.press("Write a message")
	for _, nth := range []string{"1", "3", "5"} {
		coach.tap(`.box label:nth-of-type(` + nth + `)`)
	}
	coach.fill("text", "Bring water.")
	coach.press("See how it arrives")
	coach.wantText("Bring water.")
	var sendable int
	coach.script(`document.querySelectorAll('[name=step][value=send]').length`, &sendable)
	if sendable != 1 {
		t.Errorf("the message to three players cannot be sent: %s", coach.words())
	}
	coach.click(`[name=step][value=send]`)
	coach.waitForText("The message is on its way.")

	family := demoPhone(t, url, out, "guardian", demoGuardian)
	check(family, "/me/guardian", familyPageBytes)
	most("top of the next training", family.top(".next-training"), 300)
	most("filled buttons of the family's page", float64(family.filled()), 1)
	check(family, family.link(`^/me/guardian/players/[0-9a-f-]{36}$`), familyPageBytes)
	most("height of the page of a child", height(family), 1200)

	check(family, "/me/guardian/messages", familyPageBytes)
	most("height of the messages of a family", height(family), 1500)

	before := out.end()
	check(coach, "/coach/players/add", coachPageBytes)
	for name, value := range map[string]string{"student_name": "Ishaan Kulkarni", "guardian_name": "Rekha Kulkarni", "relationship": "mother", "guardian_number": demoAsked} {
		coach.fill(name, value)
	}
	coach.setValue("date_of_birth", "2015-03-09")
	coach.do(chromedp.Evaluate(`document.querySelector('[name=batch]').checked = true`, nil))
	coach.press("Add and ask")
	link, _ := out.wait(t, `(http://\S+/a/\S+)`, before)
	for _, language := range []string{"en-IN", "hi-IN"} {
		stranger := newPhone(t, url)
		stranger.do(emulation.SetDeviceMetricsOverride(360, 740, 1, true), emulation.SetUserAgentOverride("").WithAcceptLanguage(language))
		check(stranger, link, familyPageBytes)
		var bottom float64
		stranger.script(`document.querySelector('main form button').getBoundingClientRect().bottom`, &bottom)
		most("end of Answer", bottom, 600)
		if text := stranger.words(); !strings.Contains(text, "Meera Nair") || !strings.Contains(text, "Fitness") || !strings.Contains(text, "✓") {
			t.Errorf("the question does not say who asks, for which batch, and that the identity was checked: %s", text)
		}
	}
}

// filled returns the number of visible buttons in the accent colour.
func (p *phone) filled() (n int) {
	p.t.Helper()
	p.script(`(() => {
		const probe = document.createElement('button')
		document.body.append(probe)
		const accent = getComputedStyle(probe).backgroundColor
		probe.remove()
		return [...document.querySelectorAll('main button, main .button')].filter((b) => b.checkVisibility() && getComputedStyle(b).backgroundColor === accent).length
	})()`, &n)
	return n
}
