package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/programtest"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// reactExample is the built example, which .ci/run makes before the tests.
const reactExample = "../../clients/typescript/examples/coach/dist"

// TestReactExample uses the example of a page for coaches, which is of another origin than the service: a
// new coach signs in, completes the profile, and sees the guardian's answer without loading the page again.
func TestReactExample(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(reactExample + "/index.html"); err != nil {
		programtest.NPM.Skip(t, "then build the example as clients/typescript/README.md says")
	}
	var service string
	files := http.FileServer(http.Dir(reactExample))
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/config.json" {
			fmt.Fprintf(w, `{"service": %q}`, service)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(app.Close)
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.CORSOrigins = []string{app.URL} })
	service = s.URL

	p := newPhone(t, app.URL, width(360))
	click := func(button string) {
		t.Helper()
		p.waitUntil(`!![...document.querySelectorAll('button')].find(b => b.innerText === '` + button + `' && !b.disabled)`)
		p.do(chromedp.Evaluate(`[...document.querySelectorAll('button')].find(b => b.innerText === '`+button+`').click()`, nil))
	}
	shows := func(text string) {
		t.Helper()
		p.waitUntil(`document.body.innerText.includes('` + text + `')`)
	}
	p.open(app.URL + "/")
	shows("Sign in as a coach")
	p.checkExample()
	p.set("mobile_number", "12")
	click("Send me a code")
	p.waitUntil(`!!document.querySelector('[role=alert]')`)
	p.set("mobile_number", coachNumber)
	click("Send me a code")
	shows("Enter the code")
	p.checkExample()
	p.set("otp", s.OTP(coachNumber, 0))
	click("Sign in")
	shows("About you")
	p.checkExample()
	p.set("name", "Asha Rao", "sport", "Hockey", "bio", "I coach juniors.", "years", "4")
	click("Save")
	shows("You have no players yet")

	coach := s.SignIn(t, "coach", coachNumber)
	player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
	s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "approved"}).Want(t, 200)
	shows("Guardian: yes")
	p.checkExample()
	p.open(app.URL + "/") // the session is kept
	shows("Guardian: yes")
	click("Sign out")
	shows("Sign in as a coach")
}

// checkExample runs axe-core on the open page of another origin than the service, and checks that it fits the screen.
func (p *phone) checkExample() {
	p.t.Helper()
	var violations []string
	var fits bool
	p.do(chromedp.Evaluate(axe+"; undefined", nil),
		chromedp.Evaluate(`axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html).join(' ')))`, &violations, awaitPromise),
		chromedp.Evaluate(`document.documentElement.scrollWidth <= innerWidth`, &fits))
	if len(violations) > 0 || !fits {
		p.t.Errorf("fits: %v, violations:\n%s", fits, strings.Join(violations, "\n"))
	}
	p.screenshot("react-" + strings.ToLower(strings.ReplaceAll(p.heading(), " ", "-")))
}
