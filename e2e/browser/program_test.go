package browser_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/platform/programtest"
)

// programEnv is the setting that names the browser: a path, or a name in PATH. Without it the tests
// take the first of the usual programs that is installed, and are skipped where none starts.
const programEnv = "TOUCHLINE_TEST_BROWSER"

// findProgram returns the path of the browser.
func findProgram() (string, error) {
	if named := os.Getenv(programEnv); named != "" {
		return exec.LookPath(named)
	}
	return programtest.Chromium.Find()
}

// headlessShell reports whether the browser is the headless shell.
func headlessShell() bool {
	program, err := findProgram()
	return err == nil && strings.Contains(program, "headless")
}

// startBrowser returns the browser of all tests. It skips the test where none starts, or fails it
// if TOUCHLINE_TEST_BROWSER names one.
func startBrowser(t testing.TB) context.Context {
	t.Helper()
	browser, err := chromium()
	if err != nil {
		withoutBrowser(t, err)
	}
	return browser
}

func withoutBrowser(t testing.TB, err error) {
	t.Helper()
	if named := os.Getenv(programEnv); named != "" {
		t.Fatalf("%s=%s: %v", programEnv, named, err)
	}
	programtest.Chromium.Need(t)
	// The output of the browser, which is in the error, can have many lines.
	programtest.Chromium.Skip(t, fmt.Sprintf("%.300s", err))
}

// needFonts skips the test where the browser draws each letter of Hindi as the same box.
func needFonts(t *testing.T) {
	t.Helper()
	var drawn bool
	tab := newTab(t, startBrowser(t), newProfile(t, startBrowser(t)))
	err := chromedp.Run(tab, chromedp.Evaluate(`(() => {
		const context = document.createElement('canvas').getContext('2d')
		return context.measureText('क').width !== context.measureText('ड').width
	})()`, &drawn))
	if err != nil {
		t.Fatal(err)
	}
	if !drawn {
		programtest.Fonts.Skip(t, "")
	}
}

// TestWithoutBrowser checks that a browser that does not start, or is not there, fails the tests if the setting names it.
func TestWithoutBrowser(t *testing.T) {
	t.Setenv(programEnv, "no-such-browser")
	if _, err := findProgram(); err == nil {
		t.Errorf("%s=no-such-browser found a program", programEnv)
	}
	t.Setenv(programEnv, "/bin/true")
	if path, err := findProgram(); err != nil || path != "/bin/true" {
		t.Errorf("%s=/bin/true: got %q, %v", programEnv, path, err)
	}
}
