package browser_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
	"github.com/touchline/touchline/internal/team"
)

// cable forwards connections to a service until it is cut.
type cable struct {
	net.Listener

	mu   sync.Mutex
	to   string // the address of the service, empty while the cable is cut
	open []net.Conn
}

func newCable(t *testing.T) *cable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c := &cable{Listener: l}
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go c.forward(from)
		}
	}()
	return c
}

func (c *cable) forward(from net.Conn) {
	defer func() { _ = from.Close() }()
	c.mu.Lock()
	to := c.to
	c.open = append(c.open, from)
	c.mu.Unlock()
	if to == "" {
		return
	}
	service, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer func() { _ = service.Close() }()
	go func() {
		_, _ = io.Copy(service, from)
		_ = service.Close()
	}()
	_, _ = io.Copy(from, service)
}

// connect forwards new connections to an address. Without an address it ends all connections.
func (c *cable) connect(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.to = address
	if address == "" {
		for _, connection := range c.open {
			_ = connection.Close()
		}
		c.open = nil
	}
}

// online connects the phone and its cable, or cuts both: the emulation of the browser changes what a page
// sees, and not the requests of its service worker.
func (p *phone) online(c *cable, address string) {
	p.t.Helper()
	c.connect(address)
	p.do(connection(address != ""))
}

// awaited waits for the promise of a script.
func awaited(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }

// waitUntilPromise waits until the promise of a script becomes true.
func (p *phone) waitUntilPromise(script string) {
	p.t.Helper()
	for end := time.Now().Add(loadTimeout); ; time.Sleep(100 * time.Millisecond) {
		var is bool
		if p.do(chromedp.Evaluate(script, &is, awaited)); is {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("%s is not true:\n%s", script, p.text())
		}
	}
}

// waitUntilKept waits until the phone keeps pages.
func (p *phone) waitUntilKept(paths ...string) {
	p.t.Helper()
	for _, path := range paths {
		p.waitUntilPromise(`caches.match('` + path + `', { ignoreVary: true }).then(Boolean)`)
	}
}

// TestOffline marks a sheet and answers for a training while the phone has no connection. Both reach the service
// when the connection is back, also on another page. A sign-out forgets the pages.
func TestOffline(t *testing.T) {
	t.Parallel()
	wire := newCable(t)
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.PublicURL = "http://" + wire.Addr().String() })
	address := s.URL[len("http://"):]
	wire.connect(address)
	url := "http://" + wire.Addr().String()
	coach := s.Coach(t, coachNumber)
	batch, _, _ := dailyBatch(t, s, coach, "23:58", "23:59")
	today := string(team.DateOf(s.Clock.Now(), india))
	sheet := "/coach/batches/" + batch + "/attendance/" + today

	p := newPhone(t, url)
	p.signIn(s, "coach", coachNumber)
	p.open("/coach")
	p.waitUntilKept("/coach", sheet, "/coach/players", "/offline")
	var others int
	p.open("/coach/settings")
	p.waitUntilKept("/offline")
	p.do(chromedp.Evaluate(`caches.open('pages').then((cache) => cache.keys()).then((all) => all.filter((page) => page.url.endsWith('/settings')).length)`, &others, awaited))
	if others != 0 {
		t.Error("the phone keeps the settings")
	}
	p.online(wire, "")
	p.open("/coach")
	p.waitForText("No connection. You see this page as it was at")
	p.open("/coach/settings")
	p.wantHeading("No connection")
	p.waitForText("U12 Evening")
	p.screenshot("offline")
	p.open("/coach/players")
	p.wantText("Asha Rao")
	p.open(sheet)
	p.tap(".marks fieldset [value=a]")
	p.tap(".save-bar button")
	p.waitForText("1 mark waits to be sent")
	p.waitForText("No connection. Your answer is kept on this phone.")
	p.screenshot("offline-sheet")
	p.open("/coach")
	p.online(wire, address)
	p.waitUntil(`!Object.keys(localStorage).length`)
	if marked := coach.Call(t, "GET", "/api/batches/"+batch+"/attendance/"+today, nil).Want(t, 200); !strings.Contains(string(marked.Body), `"mark":"absent"`) {
		t.Errorf("the sheet was not sent: %s", marked.Body)
	}
	p.open(sheet)
	p.waitUntil(`document.querySelector('.marks [value=a]')?.checked && document.getElementById('unsent')?.hidden`)

	family := newPhone(t, url)
	family.signIn(s, "guardian", guardianNumber)
	family.open("/me/guardian")
	family.waitUntilKept("/me/guardian", "/offline")
	family.online(wire, "")
	// A line of the notice may move the buttons under the mouse, so no press at a place of the page.
	answer := func(value string) {
		family.script(`document.querySelector('.next-training [value=`+value+`]').click()`, nil)
	}
	answer("yes")
	family.waitForText("Your answer is kept on this phone.")
	family.open("/me/guardian")
	family.waitForText("Your answer is kept on this phone.")
	answer("no")
	family.waitForText("Your answer is kept on this phone.")
	family.screenshot("offline-family")
	family.online(wire, address)
	family.waitUntil(`document.querySelector('.next-training [value=no]')?.getAttribute('aria-pressed') === 'true' && !document.body.dataset.old`)
	// The page may still move while its live parts load, so no click.
	if err := family.load(chromedp.Evaluate(`document.querySelector('form[action="/sign-out"]').requestSubmit()`, nil).Do); err != nil {
		t.Fatal(err)
	}
	family.waitUntilPromise(`caches.has('pages').then((has) => !has)`)
}

// TestEndedAccountForgetsPages: the phone forgets the pages of an account that is deleted or closed, as after a
// sign-out.
func TestEndedAccountForgetsPages(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	s.Coach(t, coachNumber).AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
	forgets := func(p *phone) {
		t.Helper()
		p.waitUntilPromise(`caches.has('pages').then((has) => !has)`)
	}

	family := newPhone(t, s.URL)
	family.signIn(s, "guardian", guardianNumber)
	family.open("/me/guardian")
	family.waitUntilKept("/me/guardian")
	family.open("/me/guardian/delete")
	family.press("Delete my account now")
	forgets(family)

	coach := newPhone(t, s.URL)
	coach.signIn(s, "coach", coachNumber)
	coach.open("/coach")
	coach.waitUntilKept("/coach", "/coach/players")
	coach.open("/coach/settings/close")
	sent := s.Sent(coachNumber, "otp")
	coach.press("Send me a code")
	coach.press("Close my account for ever", "code", s.OTP(coachNumber, sent))
	coach.wantHeading("Your account is closed")
	forgets(coach)
}
