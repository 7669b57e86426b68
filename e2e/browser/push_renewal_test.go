package browser_test

import (
	"io"
	"net/http"
	"strings"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/message/push/pushtest"
)

// checkPushRenewal: a subscription that the browser replaced, or that its push service ended, is renewed for the session of a coach that had it. If
// the browser gives no new one, the device tells the person. A person who ended the messages gets none. The browser of the tests has no push service,
// and the requests of a worker fail while other browsers run: so the script of the worker runs in the page, with a push service of the test.
func (p *phone) checkPushRenewal() {
	p.t.Helper()
	p.open("/coach/settings")
	response, err := http.Get(p.url + "/service-worker.js")
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	worker, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	b := pushtest.NewBrowser(p.t)
	p.script(`(() => {
		const handlers = {}
		const account = document.querySelector('[name=account]').value
		const of = (endpoint) => ({ toJSON: () => ({ endpoint, keys: { p256dh: a, auth: b } }), unsubscribe: async () => { test.current = null } })
		const registration = {
			pushManager: {
				getSubscription: async () => test.current,
				subscribe: async () => { if (!test.next) throw new DOMException('none', 'AbortError'); return test.current = of(test.next) },
			},
			showNotification: async (title, { data }) => { test.told.push(title + ' ' + data.url) },
		}
		const run = (name, event) => new Promise((resolve, reject) => handlers[name]({ ...event, waitUntil: (work) => work.then(resolve, reject) }))
		const post = (path, fields) => fetch('/coach/settings/push' + path, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ account, ...fields }) })
		const test = window.test = {
			told: [], next: null, current: null,
			subscribe: (endpoint) => post('', { endpoint, p256dh: a, auth: b, show_names: 'yes' }),
			end: () => post('/end', {}), // as the push service does, without the page of the form
			endByPerson: async () => {
				const request = { url: location.origin + '/coach/settings/push/end', mode: 'navigate', method: 'POST', headers: new Headers() }
				await run('fetch', { request, preloadResponse: test.end(), respondWith: () => {} })
			},
			changed: (next) => { test.next = next; return run('pushsubscriptionchange', {}) },
			opened: (next) => { test.next = next; return run('message', { data: { paths: [], language: 'another' } }) },
			stored: async () => {
				const html = await (await fetch('/coach/settings', { headers: { Accept: 'text/html' } })).text()
				const form = new DOMParser().parseFromString(html, 'text/html').querySelector('[data-endpoint]')
				return form ? decodeURIComponent(form.dataset.endpoint) + ' ' + form.dataset.names : ''
			},
		};
		((registration, clients, skipWaiting, addEventListener, Notification) => {`+string(worker)+`
		})(registration, {}, () => {}, (name, handler) => { handlers[name] = handler }, { permission: 'granted' })
	})()`, nil, b.P256DH(), b.Auth())
	const host = "https://push.example/"
	for _, step := range []struct{ name, does, stored, told string }{
		{"a session without a subscription", `test.changed('` + host + `0')`, "", ""},
		{"the browser replaced it", `test.subscribe('` + host + `1').then(() => test.changed('` + host + `2'))`, host + "2 yes", ""},
		{"the push service ended it", `test.end().then(() => test.changed('` + host + `3'))`, host + "3 yes", ""},
		{"a page finds that it ended", `test.end().then(() => test.opened('` + host + `4'))`, host + "4 yes", ""},
		{"there is no new one", `test.end().then(() => test.changed(''))`, "", "have stopped"},
		{"the person was told once", `test.changed('` + host + `5')`, "", ""},
		{"the person ended it", `test.subscribe('` + host + `6').then(() => test.changed('` + host + `6')).then(test.endByPerson).then(() => test.changed('` + host + `7'))`, "", ""},
	} {
		var got struct{ Stored, Told string }
		p.do(chromedp.Evaluate(`(async () => { await `+step.does+`; return { Stored: await test.stored(), Told: test.told.splice(0).join() } })()`, &got, awaited))
		if got.Stored != step.stored || !strings.Contains(got.Told, step.told) || (step.told == "") != (got.Told == "") || step.told != "" && !strings.HasSuffix(got.Told, " /coach/settings#push") {
			p.t.Errorf("%s: the service has %q, the person reads %q; want %q, %q", step.name, got.Stored, got.Told, step.stored, step.told)
		}
	}
}
