package browser_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/message/push/pushtest"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// worker returns a context that evaluates scripts in the service worker of the phone.
func (p *phone) worker() context.Context {
	p.t.Helper()
	p.waitUntilPromise(`navigator.serviceWorker.ready.then(Boolean)`)
	for end := time.Now().Add(loadTimeout); ; time.Sleep(50 * time.Millisecond) {
		all, err := chromedp.Targets(p.ctx)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, found := range all {
			if found.Type == "service_worker" && found.BrowserContextID == p.profile {
				ctx, cancel := chromedp.NewContext(p.ctx, chromedp.WithTargetID(target.ID(found.TargetID)))
				p.t.Cleanup(cancel)
				if err := chromedp.Run(ctx); err != nil { // the context of the first run ends the session
					p.t.Fatal(err)
				}
				return ctx
			}
		}
		if time.Now().After(end) {
			p.t.Fatalf("no service worker in %v", all)
		}
	}
}

// TestPushRenewal: a subscription that the browser replaced, or that its push service ended, is renewed for the session that had it. If the
// browser gives no new one, the device tells the person. A person who ended the messages gets none. The browser of the tests has no push service, so
// the test has that of the worker.
func TestPushRenewal(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		s.Coach(t, coachNumber)
		p := newPhone(t, s.URL)
		p.signIn(s, "coach", coachNumber)
		p.open("/coach/settings")
		b := pushtest.NewBrowser(t)
		subscribe := func(endpoint string) {
			p.script(`fetch('/coach/settings/push', { method: 'POST', redirect: 'manual', body: new URLSearchParams({ account: document.querySelector('[name=account]').value, endpoint: a, p256dh: b, auth: c, show_names: 'yes' }) }).then(() => { document.body.dataset.sent = a })`,
				nil, endpoint, b.P256DH(), b.Auth())
			p.waitUntil(`document.body.dataset.sent === '` + endpoint + `'`)
		}
		end := func() { // as the push service does, without the page of the form
			p.script(`fetch('/coach/settings/push/end', { method: 'POST', redirect: 'manual', body: new URLSearchParams({ account: document.querySelector('[name=account]').value }) }).then(() => { document.body.dataset.sent = 'end' })`, nil)
			p.waitUntil(`document.body.dataset.sent === 'end'`)
		}
		stored := func() string {
			p.open("/coach/settings")
			var endpoint string
			p.script(`document.querySelector('[data-endpoint]')?.dataset.endpoint ?? ''`, &endpoint)
			endpoint, err := url.QueryUnescape(endpoint)
			if err != nil {
				t.Fatal(err)
			}
			return endpoint
		}
		worker := p.worker()
		inWorker := func(script string, result any) {
			t.Helper()
			ctx, cancel := context.WithTimeout(worker, 30*time.Second)
			defer cancel()
			if err := chromedp.Run(ctx, chromedp.Evaluate(script, result)); err != nil {
				t.Fatal(err)
			}
		}
		inWorker(`(() => {
			self.told = []
			self.next = null
			self.current = null
			const of = (endpoint) => ({ toJSON: () => ({ endpoint, keys: { p256dh: '`+b.P256DH()+`', auth: '`+b.Auth()+`' } }), unsubscribe: async () => { self.current = null } })
			const pushManager = {
				getSubscription: async () => self.current,
				subscribe: async () => { if (!self.next) throw new DOMException('none', 'AbortError'); self.current = of(self.next); return self.current },
			}
			Object.defineProperty(registration, 'pushManager', { value: pushManager })
			Object.defineProperty(registration, 'showNotification', { value: async (title, { data }) => { self.told.push(title + ' ' + data.url) } })
			Object.defineProperty(Notification, 'permission', { value: 'granted' })
		})()`, nil)
		changed := func(next string) (told string) {
			t.Helper()
			const dispatch = `(() => {
				self.ended = ''
				const event = new ExtendableEvent('pushsubscriptionchange')
				Object.defineProperty(event, 'waitUntil', { value: (promise) => { promise.then(() => { self.ended = 'yes' }, (error) => { self.ended = String(error) }) } })
				dispatchEvent(event)
			})()`
			inWorker(`self.next = '`+next+`'`, nil)
			inWorker(dispatch, nil)
			for end := time.Now().Add(loadTimeout); ; time.Sleep(50 * time.Millisecond) {
				var ended string
				if inWorker(`self.ended`, &ended); ended == "yes" {
					break
				} else if strings.Contains(ended, "Failed to fetch") && time.Now().Before(end) { // Chromium ends the request of a worker under load
					inWorker(dispatch, nil)
				} else if ended != "" || time.Now().After(end) {
					t.Fatalf("the renewal ended with %q", ended)
				}
			}
			inWorker(`self.told.splice(0).join()`, &told)
			return told
		}
		host := "https://push.example/"
		if told := changed(host + "0"); told != "" || stored() != "" {
			t.Errorf("a session without a subscription got %q, told %q", stored(), told)
		}
		subscribe(host + "1")
		inWorker(`self.current = null`, nil)
		if told := changed(host + "2"); told != "" || stored() != host+"2" {
			t.Errorf("after a new subscription: stored %q, told %q", stored(), told)
		}
		end()
		if told := changed(host + "3"); told != "" || stored() != host+"3" {
			t.Errorf("after the push service ended it: stored %q, told %q", stored(), told)
		}
		var names bool
		p.script(`document.querySelector('[data-names]').dataset.names === 'yes'`, &names)
		if !names {
			t.Error("the new subscription shows no names")
		}
		end()
		if told := changed(""); !strings.Contains(told, "have stopped") || !strings.HasSuffix(told, "/coach/settings#push") {
			t.Errorf("without a new subscription the device told %q", told)
		}
		if told := changed(host + "4"); told != "" || stored() != "" {
			t.Errorf("told once; then stored %q, told %q", stored(), told)
		}
		subscribe(host + "5")
		changed(host + "5")
		p.open("/coach/settings")
		p.press("Turn off for this device")
		if told := changed(host + "6"); told != "" || stored() != "" {
			t.Errorf("after the person ended it: stored %q, told %q", stored(), told)
		}
	})
}
