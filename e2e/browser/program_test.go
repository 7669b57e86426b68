package browser_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// programEnv is the setting that names the browser: a path, or a name in PATH. Without it the tests
// take the first of programs that is installed, and are skipped where none starts.
const programEnv = "TOUCHLINE_TEST_BROWSER"

// programs are the names of the browser, the program with the least processor time first. The
// script that Debian has as chromium-headless-shell does not end its browser when it is killed, so
// the program itself comes first.
var programs = []string{
	"/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell",
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
}

// findProgram returns the path of the browser.
func findProgram() (string, error) {
	names := programs
	if named := os.Getenv(programEnv); named != "" {
		names = []string{named}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("none of %s is installed", strings.Join(names, ", "))
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
		return
	}
	// The output of the browser, which is in the error, can have many lines.
	t.Skipf("no browser: %.300s", strings.Join(strings.Fields(err.Error()), " "))
}

// outcome is a test that records how it ends.
type outcome struct {
	testing.TB
	skipped, failed string
}

func (o *outcome) Helper()                           {}
func (o *outcome) Skipf(format string, args ...any)  { o.skipped = fmt.Sprintf(format, args...) }
func (o *outcome) Fatalf(format string, args ...any) { o.failed = fmt.Sprintf(format, args...) }

// TestWithoutBrowser checks that a test is skipped with one line where no browser starts, and fails
// where the named one does not.
func TestWithoutBrowser(t *testing.T) {
	err := errors.New("start /usr/bin/chromium: chrome failed to start:\nno display\n")
	t.Setenv(programEnv, "")
	var unnamed outcome
	withoutBrowser(&unnamed, err)
	if want := "no browser: start /usr/bin/chromium: chrome failed to start: no display"; unnamed.skipped != want || unnamed.failed != "" {
		t.Errorf("without the setting: got %+v, want a skip with %q", unnamed, want)
	}
	t.Setenv(programEnv, "no-such-browser")
	_, err = findProgram()
	if err == nil {
		t.Fatalf("%s=no-such-browser found a program", programEnv)
	}
	var named outcome
	withoutBrowser(&named, err)
	if want := "TOUCHLINE_TEST_BROWSER=no-such-browser: none of no-such-browser is installed"; named.failed != want || named.skipped != "" {
		t.Errorf("with the setting: got %+v, want a failure with %q", named, want)
	}
}
