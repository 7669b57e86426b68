package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// chromium is the browser of all tests of this process. A start costs about a second of
// processor time, so each phone has a browser context of this one.
var chromium = sync.OnceValues(func() (context.Context, error) {
	program, err := findProgram()
	if err != nil {
		return nil, err
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), chromiumOptions(program)...)
	ctx, _ := chromedp.NewContext(allocator)
	if err := chromedp.Run(ctx, fewerEvents()); err != nil {
		stop()
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	stopChromium = func() error {
		defer stop()
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return chromedp.Cancel(ctx)
	}
	return ctx, nil
})

// chromiumOptions are the options of every browser of the tests.
func chromiumOptions(program string) []chromedp.ExecAllocatorOption {
	draw := len(screenshotWidths()) > 0
	return append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("headless", "new"), // the headless shell has no other mode
		// Fewer processes. chromedp has the former name of this feature.
		chromedp.Flag("enable-features", "NetworkServiceInProcess2"),
		chromedp.Flag("in-process-gpu", !draw),
		chromedp.Flag("renderer-process-limit", "1"), // the tabs of a profile share its process
		// A new page in the frame of the one before. The rest is the list of chromedp.
		chromedp.Flag("disable-features", "RenderDocument,site-per-process,Translate,AutofillServerCommunication,OptimizationHints"),
		chromedp.Flag("disable-threaded-compositing", !draw),
		chromedp.Flag("disable-software-rasterizer", true), // no WebGL
		chromedp.Flag("disable-component-update", true), chromedp.Flag("allow-browser-signin", false),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("wm-window-animations-disabled", true),
		chromedp.Flag("allow-pre-commit-input", true), // see newTab
		// The compiler that takes longest saves less than it costs.
		chromedp.Flag("js-flags", "--no-turbofan"),
		chromedp.WSURLReadTimeout(time.Minute),
		chromedp.ProxyServer(otherHosts.URL), chromedp.Flag("proxy-bypass-list", "<-loopback>;127.0.0.1;localhost"),
	)
}

// otherHosts is a proxy for requests to hosts other than the services. Each of them fails the
// tests, except requests of Chromium and Chrome to Google's services: the headless shell has none. The
// policy of each page blocks requests to another port.
var otherHosts = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	host := r.URL.Hostname()
	if !(strings.HasSuffix(host, ".google.com") || strings.HasSuffix(host, ".googleapis.com")) || headlessShell() {
		fmt.Fprintf(os.Stderr, "the browser asks another host: %s %s\n", r.Method, r.RequestURI)
		asked.Store(true)
	}
	w.WriteHeader(http.StatusBadGateway)
}))

// asked tells whether the browser sent a request to another host.
var asked atomic.Bool

// profiles are the browser contexts that no test uses now.
var profiles = make(chan cdp.BrowserContextID, 100)

// newProfile returns a browser context with separate cookies. Tests use it one after the other,
// because its process takes longer to start than a page to load.
func newProfile(t *testing.T, browser context.Context) cdp.BrowserContextID {
	t.Helper()
	var id cdp.BrowserContextID
	select {
	case id = <-profiles:
	default:
		var err error
		execute := cdp.WithExecutor(browser, chromedp.FromContext(browser).Browser)
		if id, err = target.CreateBrowserContext().WithDisposeOnDetach(true).Do(execute); err != nil {
			t.Fatal(err)
		}
		// The process ends with its last tab, so one tab stays open. Chromium and Chrome open a tab
		// only in a window; the headless shell has no windows and ignores the option.
		if _, err := target.CreateTarget("about:blank").WithBrowserContextID(id).WithNewWindow(true).Do(execute); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { profiles <- id })
	return id
}

// stopChromium ends the browser and waits until its processes and its folder are gone.
var stopChromium = func() error { return nil }

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // as the command touchline does
	code := m.Run()
	if asked.Load() {
		code = 1
	}
	if err := stopChromium(); err != nil {
		fmt.Fprintf(os.Stderr, "stop the browser: %v\n", err)
		code = 1
	}
	os.Exit(code)
}
