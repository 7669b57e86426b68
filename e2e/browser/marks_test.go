package browser_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
	"github.com/touchline/touchline/internal/team"
)

// releases is a proxy that gives the files of the pages other names with each release, and the service worker other
// code: it names the release in the caches. As after a real one, the earlier names are not found. Only the service worker
// keeps files: while a new one starts, a command that clears the cache of Chromium can hold up a page for minutes.
type releases struct {
	*httptest.Server
	release atomic.Int64
}

var staticName = regexp.MustCompile(`(/static/[\w-]+\.)([0-9a-f]{12})\b`)

func newReleases(t *testing.T, service string) *releases {
	t.Helper()
	to, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	r := new(releases)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.Out.Host = p.In.Host
			p.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(resp *http.Response) error {
			resp.Header.Set("Cache-Control", "no-store")
			html, worker := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"), resp.Request.URL.Path == "/service-worker.js"
			if !html && !worker || resp.Request.Method == http.MethodHead {
				return nil
			}
			page, err := io.ReadAll(resp.Body)
			if err != nil {
				return err
			}
			if html {
				page = staticName.ReplaceAll(page, []byte("${1}"+r.mark()+"${2}"))
			} else {
				page = fmt.Appendf(page, "caches.open('release %s')\n", r.mark())
			}
			resp.Body = io.NopCloser(bytes.NewReader(page))
			resp.ContentLength = int64(len(page))
			resp.Header.Set("Content-Length", strconv.Itoa(len(page)))
			return nil
		},
	}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if name, ok := strings.CutPrefix(q.URL.Path, "/static/"); ok {
			base, rest, _ := strings.Cut(name, ".")
			hash, now := strings.CutPrefix(rest, r.mark())
			if !now {
				http.NotFound(w, q)
				return
			}
			q.URL.Path = "/static/" + base + "." + hash
		}
		proxy.ServeHTTP(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *releases) mark() string { return fmt.Sprintf("r%d-", r.release.Load()) }

// newOwnBrowser starts a browser whose data is in a folder, and returns its one tab. Unlike other phones it can
// be closed and started again.
func newOwnBrowser(t *testing.T, url, folder string) *phone {
	t.Helper()
	program, err := findProgram()
	if err != nil {
		withoutBrowser(t, err)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), append(chromiumOptions(program), chromedp.UserDataDir(folder))...)
	t.Cleanup(stop)
	ctx, _ := chromedp.NewContext(allocator)
	p := &phone{t: t, ctx: ctx, url: url}
	p.prepare()
	return p
}

func (p *phone) prepare() {
	p.t.Helper()
	p.watchPolicy()
	p.do(emulation.SetFocusEmulationEnabled(true), fewerEvents(), width(360)(p), language("en-IN")(p))
}

// anotherTab opens another tab of the same browser.
func (p *phone) anotherTab() *phone {
	p.t.Helper()
	ctx, cancel := chromedp.NewContext(p.ctx)
	p.t.Cleanup(cancel)
	tab := &phone{t: p.t, ctx: ctx, url: p.url}
	tab.prepare()
	return tab
}

// restart closes a browser whose data is in a folder and starts it again. The browser may end before it has written a new cookie: a cookie that
// outlives the browser is set again.
func (p *phone) restart(folder string) *phone {
	p.t.Helper()
	cookies := p.cookies()
	ctx, cancel := context.WithTimeout(p.ctx, loadTimeout)
	defer cancel()
	if err := chromedp.Cancel(ctx); err != nil || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		p.t.Fatalf("close the browser: %v", errors.Join(err, ctx.Err()))
	}
	again := newOwnBrowser(p.t, p.url, folder)
	for _, c := range cookies {
		if !c.Session {
			again.setCookie(&http.Cookie{Name: c.Name, Value: c.Value, Path: c.Path, HttpOnly: c.HTTPOnly, MaxAge: 3600})
		}
	}
	return again
}

// row returns the selector of a mark of a player on the sheet.
func row(n int, mark string) string {
	return fmt.Sprintf(".marks fieldset:nth-of-type(%d) [value=%s]", n, mark)
}

// wantMarks waits until the sheet shows these marks, "-" for none.
func (p *phone) wantMarks(marks string) {
	p.t.Helper()
	p.waitUntil(`[...document.querySelectorAll('.marks fieldset')].map((f) => f.querySelector(':checked')?.value ?? '-').join('') === '` + marks + `'`)
}

// sendWaiting sends what waits now, in place of later. The page may lead to another one then.
func (p *phone) sendWaiting() {
	p.t.Helper()
	p.do(chromedp.Evaluate(`window.waiting.load().then(({ send }) => { send() })`, nil))
}

// TestWaitingMarks takes attendance while the service is stopped: the four ways in which marks were lost. The
// coach has opened no sheet on this phone before.
func TestWaitingMarks(t *testing.T) {
	t.Parallel()
	wire := newCable(t)
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.PublicURL = "http://" + wire.Addr().String() })
	front := newReleases(t, s.URL)
	address := front.URL[len("http://"):]
	wire.connect(address)
	start, stop := func() { t.Helper(); wire.connect(address) }, func() { t.Helper(); wire.connect("") }
	coach := s.Coach(t, coachNumber)
	batch, asha, _ := dailyBatch(t, s, coach, "23:58", "23:59")
	players := map[string]string{"Asha Rao": asha}
	for i, name := range []string{"Bela Das", "Chand Rao", "Dev Nair", "Esha Iyer"} {
		body := named(name, fmt.Sprintf("+9198124000%02d", i), "")
		body["batch_ids"] = []string{batch}
		players[name] = coach.AddPlayer(t, body).String("player_id")
	}
	today := string(team.DateOf(s.Clock.Now(), india))
	sheet, api := "/coach/batches/"+batch+"/attendance/"+today, "/api/batches/"+batch+"/attendance/"+today
	wantStored := func(want string) {
		t.Helper()
		got := coach.Call(t, "GET", api, nil).Want(t, 200)
		if counts := got.String("counts.present") + " present " + got.String("counts.absent") + " absent " + got.String("counts.late") + " late"; counts != want {
			t.Errorf("the service has %s, want %s", counts, want)
		}
	}

	folder := t.TempDir()
	p := newOwnBrowser(t, "http://"+wire.Addr().String(), folder)
	p.signIn(s, "coach", coachNumber, "remember", "yes")
	p.open("/coach")
	p.waitUntilKept("/coach", sheet, "/coach/players", "/offline")

	// The service is stopped. Today leads to the sheet, which has its script and style: what is marked is seen.
	stop()
	p.open("/coach")
	// The browser says that it is connected while the page changes. The tap goes first.
	p.waitUntil(`!!window.waiting.send`)
	tap := `document.querySelector('main a[href$="` + sheet + `"]').click(); dispatchEvent(new Event('online'))`
	if err := p.load(chromedp.Evaluate(tap, nil).Do); err != nil {
		t.Fatal(err)
	}
	if at := p.path(); at != sheet {
		t.Fatalf("a tap while the connection comes back leads to %s", at)
	}
	p.tap(row(2, "a"))
	p.tap(".save-bar button")
	p.waitForText("1 mark waits to be sent")
	p.tap(".rest")
	p.wantMarks("pappp")
	p.tap(row(1, "l"))
	p.tap(".save-bar button")
	p.waitForText("5 marks wait to be sent")
	p.waitForText("No connection. Your answer is kept on this phone.")
	p.screenshot("marks-wait")

	// A page that was never kept says nothing of what was sent.
	p.open("/coach/settings")
	p.wantHeading("No connection")
	if text := p.words(); strings.Contains(text, "sent just now") {
		t.Errorf("a page that was only opened says: %s", text)
	}
	p.waitForText("U12 Evening")

	// The browser is closed. Two tabs are open afterwards, and each marks another player.
	p = p.restart(folder)
	p.open("/coach")
	p.waitForText("5 marks wait to be sent.")
	p.open(sheet)
	p.wantMarks("lappp")
	other := p.anotherTab()
	other.open(sheet)
	other.tap(row(3, "a"))
	other.tap(".save-bar button")
	p.tap(row(4, "l"))
	p.tap(".save-bar button")
	p.wantMarks("laalp")
	other.wantMarks("laalp")

	// There is a release before the service is back. The pages of before it still have their files.
	// One tab sends the marks of both.
	front.release.Add(1)
	start()
	other.sendWaiting()
	p.waitForText("✓ Taken")
	other.waitUntil(`document.querySelector('.save-bar .waits')?.textContent === ''`)
	wantStored("1 present 2 absent 2 late")
	p.open("/coach")
	p.waitUntilPromise(`caches.match('/coach').then((page) => page.text()).then((page) => page.includes('.r1-'))`)
	p.waitUntilPromise(`caches.has('release r1-')`) // the service worker of the new release runs
	p.waitUntilPromise(`navigator.serviceWorker.ready.then((r) => !r.installing)`)
	// The new one starts after the last event of the one before, which can last for minutes. A browser ends idle service workers; here at once.
	p.do(serviceworker.Enable(), serviceworker.StopAllWorkers(), serviceworker.Disable())
	p.waitUntilPromise(`navigator.serviceWorker.ready.then((r) => !r.waiting && r.active.state === 'activated')`)
	stop()
	p.open("/coach/players") // kept before the release
	p.wantText("Asha Rao")
	var styled string
	p.script(`getComputedStyle(document.querySelector('header.top')).display + document.querySelector('link[rel=stylesheet]').href.includes('.r0-') + [...document.styleSheets].some((s) => s.cssRules.length > 99)`, &styled)
	if !strings.HasSuffix(styled, "truetrue") {
		t.Errorf("after a release, a page from before it has the style %s", styled)
	}

	// Marks that cannot be saved: a player left the batch, and another device marked a player later.
	start()
	body := named("Farah Khan", "+919812400009", "")
	body["batch_ids"] = []string{batch}
	farah := coach.AddPlayer(t, body).String("player_id")
	p.open(sheet)
	p.waitUntilPromise(`caches.match('` + sheet + `').then((page) => page.text()).then((page) => page.includes('Farah'))`)
	stop()
	coach.Call(t, "DELETE", "/api/batches/"+batch+"/players/"+farah, nil).Want(t, 204)
	p.open(sheet)
	p.wantMarks("laalp-")
	p.tap(row(1, "a"))
	p.tap(row(2, "p"))
	p.tap(row(6, "l"))
	p.tap(".save-bar button")
	p.waitForText("3 marks wait to be sent")
	coach.Call(t, "PATCH", api, map[string]any{"marks": []map[string]any{{"player_id": players["Bela Das"], "mark": "excused"}}}).Want(t, 200)
	p.open("/coach")
	p.waitForText("3 marks wait to be sent.")
	start()
	p.sendWaiting()
	p.waitForText("1 mark is sent.")
	p.waitForText("2 marks were not saved. Bela Das, Farah Khan Open the sheet of")
	p.click(`#connection a[href$="` + sheet + `"]`)
	p.waitForText("Bela Das · present")
	p.waitForText("Another device marked excused later")
	p.waitForText("Farah Khan · late")
	p.waitForText("Add the player to the batch and mark again, or remove this mark.")
	wantStored("1 present 2 absent 1 late")
	p.screenshot("marks-refused")
	p.tap("#refused button")
	p.waitUntil(`document.querySelectorAll('#refused li').length === 1`)
	p.tap("#refused button")
	p.waitUntil(`document.getElementById('refused').hidden`)

	// What another account left here is not sent under this one.
	p.do(chromedp.Evaluate("localStorage.setItem('waits coach other 1 a', JSON.stringify({ sheet: '"+sheet+"', player: '"+asha+"', name: 'Asha Rao', mark: 'p', at: Date.now(), saved: true }))", nil))
	p.open("/coach/batches/add")
	p.waitForText("Something that another account wrote is on this phone and not sent.")
	p.sendWaiting()
	wantStored("1 present 2 absent 1 late")
	p.tap(`#connection button`)
	p.waitUntil(`!localStorage.length && document.getElementById('connection').hidden`)

	// A form that cannot wait is refused, and what was typed stays.
	p.set("name", "U14")
	p.online(wire, "")
	p.tap("main form button:not([hidden])")
	p.waitForText("This was not sent. Send it again when the connection is back.")
	if name := p.value("name"); name != "U14" {
		t.Errorf("the form that was not sent has the name %q", name)
	}
	p.do(connection(true))
	p.click("main form button:not([hidden])") // the browser does not know that the service is away
	p.wantHeading("No connection")
	p.wantText("What you sent just now was not saved, or the answer was lost on the way.")
	p.online(wire, address)
	p.open(sheet)

	// Unsent marks end with the session, after asking.
	p.tap(row(3, "l"))
	p.tap(row(4, "a"))
	p.tap(`form[action="/sign-out"] button`)
	p.waitForText("2 marks are not sent yet.")
	p.screenshot("marks-ask")
	p.tap(`#ask [value=""]`)
	p.waitUntil(`!document.getElementById('ask').open`)
	p.tap(`form[action="/sign-out"] button`)
	p.click(`#ask [value=go]`)
	p.waitUntilPromise(`caches.keys().then((keys) => !keys.includes('pages') && !localStorage.length)`)
}

// TestSheetThatLoadsSlowly marks on a sheet whose scripts and second half are still on the way: no mark and no press
// is lost, and none acts before its script. A page from the memory of the browser shows the marks as they are now.
func TestSheetThatLoadsSlowly(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	script, rest := make(chan struct{}), make(chan struct{})
	asked := make(chan struct{}, 100)
	inner := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(to)
		p.Out.Host = p.In.Host
		p.Out.Header.Del("Accept-Encoding")
	}}
	var slow atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !slow.Load():
			inner.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/static/sheet."):
			asked <- struct{}{}
			<-script
			inner.ServeHTTP(w, r)
		case strings.Contains(r.URL.Path, "/attendance/") && r.Method == http.MethodGet:
			page := httptest.NewRecorder()
			inner.ServeHTTP(page, r)
			for name, values := range page.Header() {
				if name != "Content-Length" {
					w.Header()[name] = values
				}
			}
			first, second, _ := strings.Cut(page.Body.String(), "</fieldset>\n<fieldset><legend>Chand")
			_, _ = io.WriteString(w, first)
			w.(http.Flusher).Flush()
			<-rest
			_, _ = io.WriteString(w, "</fieldset>\n<fieldset><legend>Chand"+second)
		default:
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	coach := s.Coach(t, coachNumber)
	batch, _, _ := dailyBatch(t, s, coach, "23:58", "23:59")
	for i, name := range []string{"Bela Das", "Chand Rao", "Dev Nair"} {
		body := named(name, fmt.Sprintf("+9198124000%02d", i), "")
		body["batch_ids"] = []string{batch}
		coach.AddPlayer(t, body)
	}
	sheet := "/coach/batches/" + batch + "/attendance/" + string(team.DateOf(s.Clock.Now(), india))
	p := newPhone(t, front.URL)
	p.signIn(s, "coach", coachNumber)
	p.open("/coach/more")
	p.do(network.Enable(), network.SetBypassServiceWorker(true))

	slow.Store(true)
	p.do(chromedp.Evaluate(`setTimeout(() => { location.href = '`+sheet+`' })`, nil))
	<-asked
	p.waitUntil(`location.pathname === '` + sheet + `' && !!document.getElementById('unsent')`)
	var early int
	if p.script(`document.querySelectorAll('form[data-sheet]').length`, &early); early != 0 {
		t.Error("the sheet can be marked before there is a script that keeps its marks")
	}
	close(script)
	p.tap(row(1, "a"))
	p.tap(".rest")
	p.tap(row(2, "l"))
	close(rest)
	p.wantMarks("alpp")
	slow.Store(false)
	p.open(sheet)
	p.waitForText("These marks are not sent yet.")
	p.wantMarks("alpp")

	// Back shows what waits now, also if the browser kept the page.
	p.tap(row(1, "e"))
	p.open("/coach/more")
	p.waitForText("4 marks are not sent yet.")
	p.back()
	p.wantMarks("elpp")
	p.do(chromedp.Evaluate(`window.left = true; for (const key of Object.keys(localStorage)) if (key.startsWith('waits ')) localStorage.removeItem(key)
		dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`, nil))
	p.waitUntil(`!window.left && document.readyState === 'complete' && !!window.waiting`)
	p.wantMarks("----")
}

// TestWaitingMarksOfTwoAccounts: marks that wait when a session ends are sent only under the account that made
// them, also while a page of that account is open in another tab.
func TestWaitingMarksOfTwoAccounts(t *testing.T) {
	t.Parallel()
	wire := newCable(t)
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.PublicURL = "http://" + wire.Addr().String() })
	address := s.URL[len("http://"):]
	wire.connect(address)
	const otherCoach = "+919812345692"
	coach := s.Coach(t, coachNumber)
	s.Coach(t, otherCoach)
	batch, _, _ := dailyBatch(t, s, coach, "23:58", "23:59")
	today := string(team.DateOf(s.Clock.Now(), india))
	sheet, api := "/coach/batches/"+batch+"/attendance/"+today, "/api/batches/"+batch+"/attendance/"+today
	wantAbsent := func(want string) {
		t.Helper()
		if got := coach.Call(t, "GET", api, nil).Want(t, 200).String("counts.absent"); got != want {
			t.Errorf("the service has %s absent, want %s", got, want)
		}
	}
	s.Clock.Skip(2 * time.Minute)
	p := newPhone(t, "http://"+wire.Addr().String())
	p.signIn(s, "coach", coachNumber)
	p.open("/coach")
	p.waitUntilKept("/coach", sheet, "/coach/players", "/offline")
	wire.connect("")
	p.open(sheet)
	p.tap(row(1, "a"))
	p.tap(".save-bar button")
	p.waitForText("1 mark waits to be sent")

	// The session ends. The marks wait for the sign-in.
	p.waitUntil(`window.waiting.unreachable`)
	wire.connect(address)
	p.do(network.ClearBrowserCookies())
	p.sendWaiting()
	p.waitForText("Please sign in. Then it is sent.")
	wantAbsent("0")

	// Another account signs in, in another tab.
	tab := &phone{t: t, ctx: newTab(t, startBrowser(t), p.profile), url: p.url, profile: p.profile}
	tab.prepare()
	s.Clock.Skip(2 * time.Minute)
	tab.signIn(s, "coach", otherCoach)
	tab.open("/coach/batches/add")
	tab.waitForText("Something that another account wrote is on this phone and not sent.")
	tab.screenshot("marks-others")
	for _, page := range []*phone{tab, p} {
		page.do(chromedp.Evaluate(`window.waiting.load().then(({ send }) => send())`, nil, awaited))
	}
	p.waitForText("Please sign in. Then it is sent.")
	wantAbsent("0")

	// The account that made them is back.
	s.Clock.Skip(2 * time.Minute)
	tab.signIn(s, "coach", coachNumber)
	tab.waitUntil(`!Object.keys(localStorage).some((key) => key.startsWith('waits '))`)
	wantAbsent("1")
}

// TestWaitingAnswers: an answer that waits replaces no answer for another child, and is sent only under the account
// of the family that gave it.
func TestWaitingAnswers(t *testing.T) {
	t.Parallel()
	wire := newCable(t)
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.PublicURL = "http://" + wire.Addr().String() })
	address := s.URL[len("http://"):]
	wire.connect(address)
	coach := s.Coach(t, coachNumber)
	batch, asha, guardian := dailyBatch(t, s, coach, "23:58", "23:59")
	add := func(name, number string, guardian *touchlinetest.User) string {
		body := named(name, number, "")
		body["batch_ids"] = []string{batch}
		id := coach.AddPlayer(t, body).String("player_id")
		if guardian == nil {
			guardian = s.SignIn(t, "guardian", number)
		}
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "approved"}).Want(t, 200)
		return id
	}
	const otherNumber = "+919812345690"
	bela := add("Bela Rao", guardianNumber, guardian)
	add("Chand Khan", otherNumber, nil)
	wantAnswers := func(want string) {
		t.Helper()
		got := ""
		for _, id := range []string{asha, bela} {
			next := guardian.Call(t, "GET", "/api/me/players/"+id+"/trainings", nil).Want(t, 200).Items()[0]
			if answer, ok := next["answer"].(map[string]any); ok {
				got += fmt.Sprint(answer["attending"])
			}
			got += " "
		}
		if got != want {
			t.Errorf("the service has the answers %q, want %q", got, want)
		}
	}
	answerTo := func(player, answer string) string {
		return `form[action^="/me/guardian/players/` + player + `/"] [value=` + answer + `]`
	}
	s.Clock.Skip(2 * time.Minute)
	p := newPhone(t, "http://"+wire.Addr().String())
	p.signIn(s, "guardian", guardianNumber)
	p.open("/me/guardian")
	p.waitUntilKept("/me/guardian", "/offline")
	wire.connect("")
	p.open("/me/guardian")
	p.waitForText("No connection.") // each line of the notice moves the buttons
	for i, tap := range []string{answerTo(asha, "no"), answerTo(bela, "no"), answerTo(asha, "yes")} {
		p.tap(tap)
		p.waitUntil(fmt.Sprintf(`document.querySelector('%s').getAttribute('aria-pressed') === 'true' && Object.keys(localStorage).filter((key) => key.startsWith('waits ')).length === %d`, tap, min(i+1, 2)))
		p.waitForText("Your answer is kept on this phone.")
	}
	p.open("/me/guardian")
	p.waitForText("Your answer is kept on this phone.")
	for _, answer := range []string{answerTo(asha, "yes"), answerTo(bela, "no")} {
		p.waitUntil(`document.querySelector('` + answer + `').getAttribute('aria-pressed') === 'true'`)
	}
	p.screenshot("answers-wait")

	// The session ended meanwhile. Another answer leads to the sign-in, but another family signs in.
	p.waitUntil(`window.waiting.unreachable`)
	p.do(network.ClearBrowserCookies())
	wire.connect(address)
	p.click(answerTo(asha, "yes"))
	if path := p.path(); !strings.HasPrefix(path, "/sign-in/guardian") {
		t.Errorf("an answer without a session leads to %s", path)
	}
	s.Clock.Skip(2 * time.Minute)
	p.signIn(s, "guardian", otherNumber)
	p.open("/me/guardian/settings")
	p.waitForText("Something that another account wrote is on this phone and not sent.")
	p.do(chromedp.Evaluate(`window.waiting.load().then(({ send }) => send())`, nil, awaited))
	wantAnswers("  ")
	s.Clock.Skip(2 * time.Minute)
	p.signIn(s, "guardian", guardianNumber)
	p.waitUntil(`!Object.keys(localStorage).some((key) => key.startsWith('waits '))`)
	wantAnswers("true false ")

	// The script that sends cannot be loaded: the answer waits for it, too.
	p.do(network.Enable(), network.SetBypassServiceWorker(true), network.SetCacheDisabled(true))
	p.open("/me/guardian")
	wire.connect("")
	p.tap(answerTo(asha, "no"))
	p.waitForText("Your answer is kept on this phone.")
	var waits int
	if p.script(`Object.keys(localStorage).filter((key) => key.startsWith('waits ')).length`, &waits); waits != 1 {
		t.Errorf("%d answers wait without the script, want 1", waits)
	}
	wire.connect(address)
	p.do(chromedp.Evaluate(`dispatchEvent(new Event('online'))`, nil))
	p.waitUntil(`!Object.keys(localStorage).some((key) => key.startsWith('waits '))`)
	wantAnswers("false false ")
}
