package browser_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// programs are the names of the browser, the one that starts faster first. The script that
// Debian has as chromium-headless-shell does not end its browser when it is killed, so the
// program itself comes first.
var programs = []string{"/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell", "chromium"}

// findBrowser returns the path of the browser.
func findBrowser() (string, error) {
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("none of %v is installed", programs)
}

// chromium is the browser of all tests of this process. A start costs about a second of
// processor time, so each phone is a browser context of this one, with separate cookies.
var chromium = sync.OnceValues(func() (context.Context, error) {
	program, err := findBrowser()
	if err != nil {
		return nil, err
	}
	draw := len(screenshotWidths()) > 0
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		// Fewer processes. chromedp has the former name of this feature.
		chromedp.Flag("enable-features", "NetworkServiceInProcess2"),
		chromedp.Flag("in-process-gpu", !draw),
		// A new page in the frame of the one before. The rest is the list of chromedp.
		chromedp.Flag("disable-features", "RenderDocument,site-per-process,Translate"),
		chromedp.Flag("disable-threaded-compositing", !draw),
		chromedp.Flag("disable-software-rasterizer", true), // no WebGL
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("wm-window-animations-disabled", true),
		chromedp.Flag("allow-pre-commit-input", true), // see newTab
		// The compiler that takes longest saves less than it costs.
		chromedp.Flag("js-flags", "--no-turbofan"),
		chromedp.WSURLReadTimeout(time.Minute),
	)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	if err := chromedp.Run(ctx); err != nil {
		stop()
		return nil, err
	}
	stopChromium = func() error {
		defer stop()
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return chromedp.Cancel(ctx)
	}
	return ctx, nil
})

// stopChromium ends the browser and waits until its processes and its folder are gone.
var stopChromium = func() error { return nil }

func TestMain(m *testing.M) {
	code := m.Run()
	if err := stopChromium(); err != nil {
		fmt.Fprintf(os.Stderr, "stop the browser: %v\n", err)
		code = 1
	}
	os.Exit(code)
}
