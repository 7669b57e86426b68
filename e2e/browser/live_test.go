package browser_test

import (
	"bufio"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// eventsAddress is the address of the stream in a page.
var eventsAddress = regexp.MustCompile(`data-events="([^"]+)"`)

// change opens a stream of pages, waits for the first change and returns its id.
func (c *formClient) change(path, lastID string) string {
	c.t.Helper()
	req, err := http.NewRequest(http.MethodGet, c.url+path, http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	id := ""
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			return id
		}
	}
	c.t.Fatalf("%s has no change", path)
	return ""
}

// TestLivePageMissesNothing changes a player before the page opens its stream and between two
// streams. Both changes reach the page.
func TestLivePageMissesNothing(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach, c := newFormClient(t, s, coachNumber)
	id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	guardian := s.SignIn(t, "guardian", guardianNumber)
	answer := func(action string) {
		t.Helper()
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": action}).Want(t, 200)
	}
	found := eventsAddress.FindStringSubmatch(c.get("/coach/players/" + id).want(200).raw)
	if found == nil {
		t.Fatal("the page names no stream")
	}
	events := html.UnescapeString(found[1])
	answer("approved")
	first := c.change(events, "")
	answer("revoked")
	if second := c.change(events, first); second == first {
		t.Errorf("the change after %s has the same id", first)
	}
}

// TestLivePageKeepsFocus checks that a part of a page stays while the focus is in it, and shows
// the change when the focus leaves it.
func TestLivePageKeepsFocus(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber)
	p.open("/coach/players/" + id)
	p.script(`document.querySelector('[data-live] summary').focus()`, nil)
	s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "approved"}).Want(t, 200)
	p.waitUntil(`performance.getEntriesByType('resource').some((e) => e.initiatorType === 'fetch')`)
	if text := p.text(); strings.Contains(text, "The guardian said yes") {
		t.Errorf("the part with the focus was replaced:\n%s", text)
	}
	p.script(`document.activeElement.blur()`, nil)
	p.waitForText("The guardian said yes")
}

// TestLivePageTriesAgain checks that a page that could not load its change tries again after 10
// seconds. The page has a clock that runs these 10 seconds at once and no other timer.
func TestLivePageTriesAgain(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach := s.Coach(t, coachNumber)
	id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	p := newPhone(t, s.URL)
	p.signIn(s, "coach", coachNumber)
	p.open("/coach/players/" + id)
	p.script(`(() => {
		const load = window.fetch
		window.failed = 0
		window.fetch = async () => { window.failed++; return new Response('', { status: 503 }) }
		window.setTimeout = (run, pause) => { if (pause === 10000) { window.fetch = load; run() } }
	})()`, nil)
	s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "approved"}).Want(t, 200)
	p.waitForText("The guardian said yes")
	var failed int
	if p.script(`window.failed`, &failed); failed == 0 {
		t.Error("no load failed")
	}
	p.checkWakeUp("/coach/players/" + id)
	p.checkPushRenewal()
}

// checkWakeUp: a page that was hidden for a minute opens its stream again, because the phone may have slept. A shorter time changes nothing.
func (p *phone) checkWakeUp(path string) {
	p.t.Helper()
	p.open(path)
	var streams []int
	p.script(`(() => {
		let streams = 0
		const Stream = EventSource
		window.EventSource = function (...all) { streams++; return new Stream(...all) }
		window.EventSource.CLOSED = Stream.CLOSED
		const { now } = Date
		let later = 0
		Date.now = () => now() + later
		return [30000, 61000].map((pause) => {
			for (const hidden of [true, false]) {
				Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
				document.dispatchEvent(new Event('visibilitychange'))
				later += pause
			}
			return streams
		})
	})()`, &streams)
	if !slices.Equal(streams, []int{0, 1}) {
		p.t.Errorf("after 30 and 61 seconds the page has opened %v streams more, want [0 1]", streams)
	}
}

// TestFormIsSentOnce checks that a form is sent once, and again after the page came back from the
// back/forward cache.
func TestFormIsSentOnce(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		p := newPhone(t, s.URL)
		p.open("/sign-in/coach")
		var sent []int
		p.script(`(() => {
			let sent = 0
			addEventListener('submit', (event) => { if (!event.defaultPrevented) sent++; event.preventDefault() })
			const twice = () => { for (let i = 0; i < 2; i++) document.querySelector('main form').requestSubmit(); return sent }
			const first = twice()
			dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
			return [first, twice()]
		})()`, &sent)
		if !slices.Equal(sent, []int{1, 2}) {
			t.Errorf("the form was sent %v times before and after the page came back, want [1 2]", sent)
		}
	})
}
