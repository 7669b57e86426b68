package browser_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// referenceBytes is the most that the first view of the reference may load.
const referenceBytes = 1_200_000

// traffic counts what a page loads.
type traffic struct {
	mu       sync.Mutex
	requests []string
	bytes    float64
}

func (p *phone) traffic() *traffic {
	seen := new(traffic)
	chromedp.ListenTarget(p.ctx, func(event any) {
		seen.mu.Lock()
		defer seen.mu.Unlock()
		switch event := event.(type) {
		case *network.EventRequestWillBeSent:
			seen.requests = append(seen.requests, event.Request.URL)
		case *network.EventLoadingFinished:
			seen.bytes += event.EncodedDataLength
		}
	})
	p.do(network.Enable())
	return seen
}

// take returns what was loaded since the last call.
func (s *traffic) take() (requests []string, bytes float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests, bytes = s.requests, s.bytes
	s.requests, s.bytes = nil, 0
	return requests, bytes
}

// checkDocs runs axe-core on a page of the documentation in a theme, in the reference on what Scalar shows, too.
func (p *phone) checkDocs(path, theme string) {
	p.t.Helper()
	p.open(path)
	if path == "/docs" {
		p.waitUntil(`document.querySelector('#reference h1')?.checkVisibility()`)
	}
	a := &auditTab{phone: p, path: path}
	a.theme = theme
	a.do(chromedp.Evaluate(axe, nil), chromedp.Evaluate(noIconFonts, nil))
	a.checkRules(theme)
}

// TestReference opens the reference of both listeners, searches and calls the service. Every request
// goes to the service itself. Outside of CI it opens that of the public listener only: the page is the same program.
func TestReference(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	for _, tt := range []struct{ name, url, search, found string }{
		{"public", s.URL, "remind", "Remind a party"},
		{"operators", s.AdminURL, "suspend", "Suspend"},
	} {
		if tt.name == "operators" && !storetest.Complete() {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			p := newPhone(t, tt.url, width(1280))
			seen := p.traffic()
			p.open("/docs")
			p.waitUntil(`document.querySelector('#reference h1')?.checkVisibility()`)
			requests, bytes := seen.take()
			t.Logf("the first view: %d requests, %.0f bytes", len(requests), bytes)
			if bytes > referenceBytes || bytes < 500_000 {
				t.Errorf("the first view has %.0f bytes, want at most %d", bytes, referenceBytes)
			}
			p.screenshot("reference-" + tt.name)
			for _, theme := range []string{"light", "dark"} {
				p.do(colors(theme))
				p.checkDocs("/docs", theme)
				if tt.name == "public" {
					for _, path := range []string{"/docs/guide", "/docs/mobile-apps", "/docs/versions", "/problems"} {
						p.checkDocs(path, theme)
					}
				}
			}
			p.open("/docs")
			p.waitUntil(`document.querySelector('#reference h1')?.checkVisibility()`)

			p.do(chromedp.KeyEvent("k", chromedp.KeyModifiers(2)))
			p.waitUntil(`!!document.querySelector('[role=dialog] input')`)
			p.do(chromedp.KeyEvent(tt.search))
			p.waitUntil(`document.querySelector('[role=dialog]').innerText.includes('` + tt.found + `')`)
			p.do(chromedp.KeyEvent(kb.Escape))

			if tt.name == "public" {
				p.open("/docs/guide") // another page, so that the next one is loaded
				p.open("/docs#login")
				p.waitUntil(`document.querySelector('[id$="/login"]')?.innerText.includes('Idempotency-Key: login-1')`)
				p.do(chromedp.Evaluate(`[...document.querySelectorAll('[id$="/login"] button')].find(b => b.innerText.trim() === 'curl').click()`, nil))
				p.waitUntil(`['curl', 'TypeScript', 'Go'].every(l => [...document.querySelectorAll('[role=option]')].some(o => o.innerText.trim() === l))`)
			}
			p.open("/docs/guide") // another page, so that the next one is loaded
			p.open("/docs#getHealth")
			p.waitUntil(`!!document.querySelector('[id$=getHealth] .show-api-client-button')`)
			p.do(chromedp.Evaluate(`document.querySelector('[id$=getHealth] .show-api-client-button').click()`, nil))
			const send = `[...document.querySelectorAll('[role=dialog] button')].find(b => b.innerText.includes('Send get request'))`
			p.waitUntil(`!!` + send)
			p.do(chromedp.Evaluate(send+`.click()`, nil))
			p.waitUntil(`document.querySelector('[role=dialog]').innerText.includes('200 OK')`)
			more, _ := seen.take()
			if !slices.Contains(more, tt.url+"/healthz") {
				t.Error("the call did not reach the service")
			}
			for _, request := range append(requests, more...) {
				if !strings.HasPrefix(request, tt.url+"/") && !strings.HasPrefix(request, "data:") && !strings.HasPrefix(request, "blob:") {
					t.Errorf("a request to another server: %s", request)
				}
			}
		})
	}
}
