package browser_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// loadTimeout is how long a page may take to load, and an element to appear.
const loadTimeout = 3 * time.Minute

// newTab opens a tab in a profile. It draws no frames unless the tests take screenshots: styles,
// layout, scripts and input work without them, and drawing took a sixth of the CPU time of the tests.
func newTab(t *testing.T, parent context.Context, profile cdp.BrowserContextID) context.Context {
	t.Helper()
	draw := len(screenshotWidths()) > 0
	id, err := target.CreateTarget("about:blank").WithBrowserContextID(profile).WithEnableBeginFrameControl(!draw).
		Do(cdp.WithExecutor(parent, chromedp.FromContext(parent).Browser))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithTargetID(id))
	t.Cleanup(cancel)
	ctx, cancelTimeout := context.WithTimeout(ctx, 40*time.Minute) // less than the limit of CI for a package
	t.Cleanup(cancelTimeout)
	return ctx
}

// fewerEvents ends the events of the DevTools protocol that chromedp enables and the tests do not
// read: requests, changes of the DOM, stylesheets, the life cycle of pages, and the other tabs of the
// browser. Each event costs time in Chromium and here; events of requests took a third of a
// navigation. Actions of chromedp that take a selector wait for such events, so the methods of this
// file find elements with scripts.
func fewerEvents() chromedp.Action {
	fewer := chromedp.Tasks{network.Disable(), css.Disable(), dom.Disable(), page.SetLifecycleEventsEnabled(false), target.SetDiscoverTargets(false)}
	if !machineHasNetwork() {
		fewer = append(fewer, connection(true))
	}
	return fewer
}

// connection tells a tab whether there is a connection. Only with a latency does the browser take it for connected on a machine without
// a network.
func connection(on bool) chromedp.Action {
	return chromedp.Tasks{network.Enable(), network.EmulateNetworkConditions(!on, 1, -1, -1)}
}

// machineHasNetwork is false if the machine has no network but its loopback.
var machineHasNetwork = sync.OnceValue(func() bool {
	all, err := net.Interfaces()
	return err != nil || slices.ContainsFunc(all, func(i net.Interface) bool {
		return i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0
	})
})

// load takes an action and waits until the page to which it leads has loaded.
func (p *phone) load(act func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(p.ctx, loadTimeout)
	defer cancel()
	loaded := make(chan error, 1)
	finish := func(err error) {
		select {
		case loaded <- err:
		default:
		}
	}
	committed := false // an earlier load event is one of the page before
	chromedp.ListenTarget(ctx, func(event any) {
		switch event := event.(type) {
		case *page.EventFrameNavigated:
			if event.Frame.ParentID != "" {
				return
			}
			committed = true
			if event.Frame.UnreachableURL != "" {
				finish(fmt.Errorf("%s cannot be reached", event.Frame.UnreachableURL))
			} else if !strings.HasPrefix(event.Frame.URL, p.url) {
				finish(fmt.Errorf("%s is a page of another host", event.Frame.URL))
			} else if event.Type == page.NavigationTypeBackForwardCacheRestore {
				finish(nil)
			}
		case *page.EventLoadEventFired:
			if committed {
				finish(nil)
			}
		case *page.EventNavigatedWithinDocument:
			finish(nil)
		}
	})
	if err := chromedp.Run(ctx, chromedp.ActionFunc(act)); err != nil {
		return err
	}
	select {
	case err := <-loaded:
		return err
	case <-ctx.Done():
		return fmt.Errorf("no page loads: %w", ctx.Err())
	}
}

// bySelector is the script that finds the first element that matches a selector.
func bySelector(selector string) string {
	return "document.querySelector(" + strconv.Quote(selector) + ")"
}

// wait evaluates a script again until its result is not null and stores that.
func wait(ctx context.Context, script string, result any) error {
	for {
		var got []byte
		err := chromedp.Evaluate(script, &got).Do(ctx)
		var exception *runtime.ExceptionDetails
		if errors.As(err, &exception) {
			return err
		}
		if err == nil && len(got) > 0 && string(got) != "null" {
			return json.Unmarshal(got, result)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", strings.Join(strings.Fields(script), " "), ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// press presses the mouse in the middle of the element that a script finds, as soon as it is
// visible.
func press(ctx context.Context, element string, options ...chromedp.MouseOption) error {
	var at []float64
	if err := wait(ctx, `((e) => {
		e?.scrollIntoView({ block: 'center', behavior: 'instant' })
		const box = e?.getClientRects()[0]
		return box && box.width && box.height ? [box.x + box.width / 2, box.y + box.height / 2] : null
	})(`+element+`)`, &at); err != nil {
		return err
	}
	return chromedp.MouseClickXY(at[0], at[1], options...).Do(ctx)
}

// tap clicks an element that leads to no other page.
func (p *phone) tap(selector string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, loadTimeout)
	defer cancel()
	if err := chromedp.Run(ctx, chromedp.ActionFunc(func(ctx context.Context) error { return press(ctx, bySelector(selector)) })); err != nil {
		p.t.Fatalf("click %s: %v\n%s", selector, err, p.text())
	}
}

// click clicks an element of the page and waits for the next page.
func (p *phone) click(selector string, options ...chromedp.MouseOption) {
	p.t.Helper()
	if err := p.load(func(ctx context.Context) error { return press(ctx, bySelector(selector), options...) }); err != nil {
		p.t.Fatalf("click %s: %v\n%s", selector, err, p.text())
	}
}

// fill types text into the field with this name.
func (p *phone) fill(name, text string) {
	p.t.Helper()
	p.write(fmt.Sprintf(`[name=%q]`, name), text)
}

// write types text into a field. It unfolds what the field is in.
func (p *phone) write(selector, text string) {
	p.t.Helper()
	var focused bool
	p.script(`((e) => { for (let d = e.closest('details'); d; d = d.parentElement.closest('details')) d.open = true; e.focus(); return document.activeElement === e })(`+bySelector(selector)+`)`, &focused)
	if !focused {
		p.t.Fatalf("%s: the field %s cannot have the focus:\n%s", p.path(), selector, p.text())
	}
	p.do(input.InsertText(text))
}

// chooseFile chooses a file in a field.
func (p *phone) chooseFile(selector, path string) {
	p.t.Helper()
	var field *runtime.RemoteObject
	p.do(chromedp.Evaluate(bySelector(selector), &field), chromedp.ActionFunc(func(ctx context.Context) error {
		return dom.SetFileInputFiles([]string{path}).WithObjectID(field.ObjectID).Do(ctx)
	}))
}

// TestPhoneIsEmpty checks that a phone has no cookie and no stored value of an earlier test.
func TestPhoneIsEmpty(t *testing.T) {
	s := touchlinetest.New(t, storetest.SQLite(t))
	for range 2 {
		t.Run("phone", func(t *testing.T) {
			p := newPhone(t, s.URL)
			p.open("/coaches")
			var found string
			p.script(`(() => {
				const found = document.cookie + (localStorage.a || '')
				document.cookie = 'a=cookie; max-age=1000'
				localStorage.a = 'value'
				return found
			})()`, &found)
			if found != "" {
				t.Errorf("a new phone has %q", found)
			}
		})
	}
}
