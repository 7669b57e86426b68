package browser_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestPublicPage shows a coach in the directory after the preview, finds the coach as a
// visitor, and hides the coach again.
func TestPublicPage(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		user := s.Coach(t, coachNumber)
		user.Upload(t, "profile_picture", "me.png", picture(t)).Want(t, 201)
		user.Upload(t, "certification", "licence.pdf", touchlinetest.PDF(2000, 1), "title", "Hockey licence").Want(t, 201)
		visitor := newPhone(t, s.URL)
		visitor.open("/coaches")
		visitor.waitForText("No coach is here yet")
		user.AddPlayer(t, touchlinetest.Minor(guardianNumber, ""))
		link := linkTo(t, s, guardianNumber, 0)
		if visitor.open(link); visitor.count(".asker img") != 0 {
			t.Error("a question shows the picture of a coach without a public page")
		}

		coach := newPhone(t, s.URL)
		coach.signIn(s, "coach", coachNumber)
		coach.open("/coach/profile")
		coach.press("Choose what to show")
		hidden := func(field string) bool { return coach.count(`[data-field=`+field+`]:not([hidden])`) == 0 }
		if hidden("name") || !hidden("bio") {
			t.Errorf("the preview hides the name: %v, the bio: %v; want false and true", hidden("name"), hidden("bio"))
		}
		for _, field := range []string{"visible", "bio", "profile_picture", "certifications"} {
			coach.tap(`[value="` + strings.Replace(field, "visible", "yes", 1) + `"]`)
		}
		if hidden("bio") {
			t.Error("the preview does not follow the choice of the bio")
		}
		coach.checkAccessibility()
		coach.screenshot("visibility")
		coach.press("Save")
		coach.waitForText("Everyone can see it")
		coach.do(chromedp.EmulateViewport(1280, 800))
		coach.width = 1280
		coach.screenshot("visibility")

		for _, address := range []string{"/coaches", "/coaches/" + user.ID} {
			resp, err := http.Get(s.URL + address)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if cache, robots := resp.Header.Get("Cache-Control"), resp.Header.Get("X-Robots-Tag"); resp.StatusCode != 200 || cache != "public, max-age=60" || robots != "" {
				t.Errorf("%s: got %d, Cache-Control %q and X-Robots-Tag %q, want a page for caches and search engines", address, resp.StatusCode, cache, robots)
			}
		}
		for _, address := range []string{"/", "/docs", "/docs/guide"} { // they depend on the session, or have a tag of their content
			req, err := http.NewRequest("GET", s.URL+address, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Accept", "text/html")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			page, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if robots := resp.Header["X-Robots-Tag"]; err != nil || len(robots) > 0 || !strings.Contains(string(page), `<meta name="description"`) {
				t.Errorf("%s: X-Robots-Tag %q, or no description (%v); want a page for search engines", address, robots, err)
			}
		}
		visitor.open(link)
		visitor.waitUntil(`document.querySelector('.asker img')?.naturalWidth > 0`)
		visitor.open("/coaches?q=") // not the page that the browser keeps
		visitor.waitForText("Meera Nair")
		visitor.checkAccessibility()
		visitor.screenshot("coaches")
		visitor.fill("q", "unknown")
		visitor.press("Search")
		visitor.waitForText("No coach fits")
		visitor.open("/coaches?q=meer+Hockey")
		visitor.press("Meera Nair")
		visitor.waitForText("Hockey licence")
		var loaded bool
		visitor.do(chromedp.Evaluate(`document.querySelector("article img").complete && document.querySelector("article img").naturalWidth > 0`, &loaded))
		if !loaded {
			t.Error("the picture of the public page does not load")
		}
		visitor.checkAccessibility()
		visitor.screenshot("coach")

		coach.tap(`[name=visible]`)
		coach.press("Save")
		visitor.open("/coaches/" + user.ID + "?again")
		if got := visitor.heading(); got != "We cannot find this page" {
			t.Errorf("the page of a hidden coach has the heading %q", got)
		}
	})
}

// TestVisibilityNeedsVerification says why a coach is not shown while the identity is not
// verified.
func TestVisibilityNeedsVerification(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		user := s.Coach(t, coachNumber)
		p := newPhone(t, s.URL)
		p.signIn(s, "coach", coachNumber)
		p.open("/coach/visibility")
		p.tap(`[name=visible]`)
		p.press("Save")
		p.waitForText("Something needs to be put right")
		p.screenshot("visibility-blocked")
		if user.Call(t, "GET", "/api/coach/visibility", nil).String("visible") == "true" {
			t.Error("a coach without verification became visible")
		}
		p.press("Check of your identity")
		if got := p.path(); got != "/coach/verification" {
			t.Errorf("got %s, want the verification", got)
		}
	}, func(c *config.Config) { c.KYC = true })
}
