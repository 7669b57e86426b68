// Package programtest finds the programs that some tests need and many machines lack. Without its program a test is skipped, with one line
// that says what to install.
package programtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// requireEnv is "on" in CI: a test without its program fails and is not skipped.
const requireEnv = "TOUCHLINE_TEST_REQUIRE_PROGRAMS"

// Program is a program that a test may need.
type Program struct {
	// Name is the name in the message, and Debian the packages that have it in Debian.
	Name, Debian string
	// Module is the folder of the program's Go module in this repository, in place of Debian.
	Module string
	// places are its names in PATH, its paths, and patterns of its paths. The first that exists is taken; of a pattern the last.
	places []string
}

// The optional programs.
var (
	Bash      = Program{Name: "bash", Debian: "bash", places: []string{"bash"}}
	Curl      = Program{Name: "curl", Debian: "curl", places: []string{"curl"}}
	Promtool  = Program{Name: "promtool", Debian: "prometheus", places: []string{"promtool"}}
	Python    = Program{Name: "python3", Debian: "python3", places: []string{"python3"}}
	Zsh       = Program{Name: "zsh", Debian: "zsh", places: []string{"zsh"}}
	PgBouncer = Program{Name: "PgBouncer", Debian: "pgbouncer", places: []string{"pgbouncer", "/usr/sbin/pgbouncer"}}
	// NPM is for tests of what it has built before they run.
	NPM = Program{Name: "npm", Debian: "nodejs npm", places: []string{"npm"}}
	// PostgreSQL is initdb, beside which postgres is.
	PostgreSQL = Program{Name: "PostgreSQL", Debian: "postgresql", places: inPostgreSQL("initdb")}
	// PgDump is a client of PostgreSQL.
	PgDump = Program{Name: "pg_dump", Debian: "postgresql-client", places: inPostgreSQL("pg_dump")}
	// The three programs of Kannel.
	Bearerbox = Program{Name: "Kannel", Debian: "kannel", places: []string{"/usr/sbin/bearerbox", "bearerbox"}}
	Smsbox    = Program{Name: "Kannel", Debian: "kannel", places: []string{"/usr/sbin/smsbox", "smsbox"}}
	FakeSMSC  = Program{Name: "Kannel", Debian: "kannel-extras", places: []string{"/usr/lib/kannel/test/fakesmsc", "fakesmsc"}}
	// OpenIDProvider is the program of tools/oidc. Its modules are not among those that `go mod download` fetches.
	OpenIDProvider = Program{Name: "OpenID provider", Module: "tools/oidc"}
	// Fonts are those that a browser needs to draw the languages of India. The test looks for them by what the browser draws.
	Fonts = Program{Name: "fonts", Debian: "fonts-noto-core"}
	// Chromium is the browser with the least processor time that is there. The script that Debian has as chromium-headless-shell
	// does not end its browser when it is killed, so the program itself comes first.
	Chromium = Program{Name: "Chromium", Debian: "chromium", places: []string{
		"/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell",
		"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
		"/Applications/Chromium.app/Contents/MacOS/Chromium",
	}}
)

// inPostgreSQL returns the places of a program of PostgreSQL: PATH, and the folders of Debian, Red Hat and Homebrew.
func inPostgreSQL(name string) []string {
	return []string{
		name, "/usr/lib/postgresql/*/bin/" + name, "/usr/pgsql-*/bin/" + name,
		"/opt/homebrew/opt/postgresql*/bin/" + name, "/usr/local/opt/postgresql*/bin/" + name,
	}
}

// Find returns the path of the program. The error says what to install.
func (p Program) Find() (string, error) {
	for _, place := range p.places {
		paths := []string{place}
		if strings.Contains(place, "*") {
			paths, _ = filepath.Glob(place)
			slices.Reverse(paths)
		}
		for _, path := range paths {
			if found, err := exec.LookPath(path); err == nil {
				return found, nil
			}
		}
	}
	return "", errors.New(p.missing(""))
}

// Need returns the path of the program. It skips tb without it. tb must be the test that runs: a subtest must not skip its parent.
func (p Program) Need(tb testing.TB) string {
	tb.Helper()
	path, err := p.Find()
	if err != nil {
		p.Skip(tb, "")
	}
	return path
}

// Skip skips tb, which cannot use the program for another reason than that it is missing, or fails it in CI.
func (p Program) Skip(tb testing.TB, reason string) {
	tb.Helper()
	if os.Getenv(requireEnv) == "on" {
		tb.Fatalf("%s, which %s=on requires", p.missing(reason), requireEnv)
		return
	}
	tb.Skip(p.missing(reason))
}

// missing returns the line of a skip. .ci/tests.awk reads the name between "no" and the colon.
func (p Program) missing(reason string) string {
	line := "no " + p.Name + ": install Debian's package " + p.Debian
	if p.Module != "" {
		line = "no " + p.Name + ": run go -C " + p.Module + " mod download"
	}
	if strings.Contains(p.Debian, " ") {
		line = "no " + p.Name + ": install Debian's packages " + strings.Join(strings.Fields(p.Debian), " and ")
	}
	if reason != "" {
		line += " (" + strings.Join(strings.Fields(reason), " ") + ")"
	}
	return line
}
