package browser_test

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// fetch requests a path without following redirects.
func fetch(t *testing.T, s *touchlinetest.Service, path string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequest("GET", s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp
}

// TestAddressesOfPages checks what search engines, caches and people who type an address get.
func TestAddressesOfPages(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	user, c := newFormClient(t, s, coachNumber)
	c.post("/coach/visibility", "visible", "yes", "show", "name", "show", "sports", "show", "bio").want(200, "Everyone can see it")

	for from, to := range map[string]string{
		"/coach/": "/coach", "/me/": "/me", "/coaches/": "/coaches", "/coach/players/?q=a": "/coach/players?q=a", "/me/guardian/": "/me/guardian", "/a/": "/a",
	} {
		if got := fetch(t, s, from); got.StatusCode != 308 || got.Header.Get("Location") != to {
			t.Errorf("%s: got %d to %q, want 308 to %s", from, got.StatusCode, got.Header.Get("Location"), to)
		}
	}
	for _, path := range []string{"/coach//evil.example/", "/me///"} {
		if got := fetch(t, s, path).Header.Get("Location"); strings.Contains(got, "//") {
			t.Errorf("%s leads to %s", path, got)
		}
	}
	c.get("/coachs").want(404, "There is nothing here that you can see.", `<a href="/">Go to the start page</a>`)
	for path, start := range map[string]string{"/coach/none": "/coach", "/coach/players/none": "/coach", "/me/guardian/none": "/me/guardian", "/coaches/none": "/"} {
		c.get(path).want(404, `<a href="`+start+`">Go to the start page</a>`)
	}
	for _, path := range []string{"/coachs", "/api//me", "/api/../api/me", "//auth/login"} {
		if got := fetch(t, s, path); got.StatusCode != 404 || got.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s for a program: got %d, %s, want a problem with 404", path, got.StatusCode, got.Header.Get("Content-Type"))
		}
	}
	if got := fetch(t, s, "/api/nothing", "Accept", "text/html"); got.StatusCode != 404 || got.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("/api/nothing: got %d, %s, want a problem with 404", got.StatusCode, got.Header.Get("Content-Type"))
	}
	for _, address := range []string{s.URL, s.AdminURL} {
		resp, err := http.Get(address + "/")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if vary := resp.Header.Values("Vary"); !slices.Contains(vary, "Accept") {
			t.Errorf("%s/: got Vary %q, want Accept in it", address, vary)
		}
	}
	page := c.get("/coaches/"+user.ID).want(200, "<title>Meera Nair, coach for hockey, football – Touchline</title>", `<meta name="description" content="Hockey for every child.">`)
	for _, path := range []string{"/coaches", page.path} {
		first := fetch(t, s, path)
		tag := first.Header.Get("ETag")
		if tag == "" || first.StatusCode != 200 {
			t.Fatalf("%s: got %d with the tag %q", path, first.StatusCode, tag)
		}
		if again := fetch(t, s, path, "If-None-Match", `"x", `+tag); again.StatusCode != 304 || again.Header.Get("ETag") != tag || again.Header.Get("Cache-Control") == "" {
			t.Errorf("%s with its tag: got %d, %v", path, again.StatusCode, again.Header)
		}
		if other := fetch(t, s, path, "If-None-Match", tag, "Accept-Language", "hi"); other.StatusCode != 200 {
			t.Errorf("%s in Hindi with the English tag: got %d", path, other.StatusCode)
		}
	}
	c.get("/robots.txt").want(200, "Allow: /coaches", "Disallow: /\n")
	c.get("/coaches/00000000-0000-7000-8000-000000000000").want(404).without("description")
}

// TestPublicNamesAreEscaped: HTML in the name of the service and in the words of an operator
// stays text.
func TestPublicNamesAreEscaped(t *testing.T) {
	t.Parallel()
	const brand, reason = `<b>Club</b> & "Co"`, `<img src=x onerror=alert(1)> & more`
	s := touchlinetest.New(t, storetest.SQLite(t), enableKYC, func(c *config.Config) { c.Brand = brand })
	user, c := newFormClient(t, s, coachNumber)
	player := user.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	document := user.Upload(t, "identity", "passport.pdf", touchlinetest.PDF(500, 1), "title", reason).Want(t, 201).String("document_id")
	user.Call(t, "POST", "/api/coach/kyc", map[string]any{"legal_name": "Meera Nair", "document_ids": []string{document}}).Want(t, 201)
	operators := newVisitor(t, s.AdminURL)
	operators.post("/sign-in", "token", s.Operator(t, operator.KYC, operator.Coaches, operator.Audit).Token)
	submission := regexp.MustCompile(`name="submission" value="([^"]+)"`).FindStringSubmatch(operators.get("/kyc/" + user.ID).want(200).body)[1]
	operators.post("/kyc/"+user.ID, "submission", submission, "action", "reject", "reason", reason).want(200)
	guardian := newVisitor(t, s.URL)
	guardian.signIn(s, "guardian", guardianNumber)

	pages := []answer{
		c.get("/coach/verification").want(200, reason), c.get("/coach/notifications").want(200, reason), operators.get("/audit").want(200),
		operators.get("/kyc/" + user.ID).want(200), c.get("/coach/documents/"+document).want(200, reason),
	}
	operators.post("/coaches/"+user.ID, "action", "suspend", "reason", reason).want(200, reason)
	for _, path := range []string{"/", "/a", "/coaches", "/sign-in/coach", strings.TrimPrefix(linkTo(t, s, guardianNumber, 0), s.URL), "/me/guardian", "/me/guardian/players/" + player + "/answer", "/coach"} {
		pages = append(pages, guardian.get(path).want(200, brand))
	}
	for _, page := range pages {
		if strings.Contains(page.raw, "<b>Club") || strings.Contains(page.raw, "<img src=x") {
			t.Errorf("%s has the text as HTML", page.path)
		}
	}
}

// TestWrongPersonReloads: the form of "This isn’t me" leads to a page, so that a reload does
// not send it again.
func TestWrongPersonReloads(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	f := newFamily(t, s)
	b := newPhone(t, s.URL)
	b.open(f.link)
	b.press("This isn’t me")
	form := b.keep()
	for range 2 {
		b.restore(form)
		b.press("Yes, this isn’t me")
		b.wantHeading("Thank you. The question is closed")
		if b.path() != "/a/not-me" {
			t.Errorf("the form leads to %s", b.path())
		}
	}
	b.open(b.path())
	b.wantHeading("Thank you. The question is closed")
	if disputes := s.SignIn(t, "guardian", guardianNumber).Call(t, "GET", "/api/me/players", nil).Items(); len(disputes) != 1 || f.state(t) != "pending" {
		t.Errorf("the guardian has %v, the state is %s", disputes, f.state(t))
	}
}

// TestImportOfTenThousandRows: the largest file fits the page and stops at the limit of the
// plan. Each row above it says so, on every page of the list. The import goes on when there is
// room, and adds no row twice.
func TestImportOfTenThousandRows(t *testing.T) {
	t.Parallel()
	tiers := withTiers(t, `{"tiers": [
		{"name": "two", "title": "Two", "self_service": true, "features": ["roster", "import"], "limits": {"players": 2}},
		{"name": "five", "title": "Five", "self_service": true, "features": ["roster", "import"], "limits": {"players": 5}}
	]}`)
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, c := newFormClient(t, s, coachNumber)
		s.Clock.Skip(2 * time.Minute)
		p := newPhone(t, s.URL, withoutScripts())
		p.signIn(s, "coach", coachNumber)
		ready := p.importFile(csvOf(10_000), "")
		for tries := 1; ready.status == 503 && tries < 10; tries++ { // a busy machine has no time for all rows; nothing is kept
			ready = p.importFile(csvOf(10_000), "")
		}
		for path, tries := ready.path, 1; strings.Contains(ready.body, "Being read") || ready.status == 503 && tries < 10; tries++ { // the page waits 2 s for the file
			p.open(path)
			ready = p.answered()
		}
		ready.want(200, "10,000 rows can be added.")
		if len(ready.raw) > 250_000 {
			t.Errorf("the preview has %d bytes, want at most 250,000", len(ready.raw))
		}
		api := strings.Replace(ready.path, "/coach/", "/api/players/", 1)
		// limited checks that the rows from first to the last one are refused for the limit.
		limited := func(first int) {
			t.Helper()
			got := c.get(ready.path+"?state=waiting").want(200, "Your plan has no room for more players.", "More rows").
				without("<th scope=\"row\">" + strconv.Itoa(first-1) + "<")
			if n := strings.Count(got.raw, "No room in your plan."); n != 50 || len(got.raw) > 250_000 {
				t.Errorf("a page has %d rows with the limit and %d bytes", n, len(got.raw))
			}
			if n := strings.Count(c.get(ready.path+"?state=waiting&after=9991").want(200).raw, "No room in your plan."); n != 10 {
				t.Errorf("the last page has %d rows with the limit, want 10", n)
			}
			rows := coach.Call(t, "GET", api+"/rows?state=waiting&limit=200", nil).Want(t, 200).Items()
			for i, row := range rows {
				if faults := row["faults"].([]any); len(rows) != 200 || row["row"] != float64(first+i) || len(faults) != 1 || faults[0].(map[string]any)["code"] != "tier_limit" {
					t.Fatalf("row %d of %d: %v", i, len(rows), row)
				}
			}
		}
		run := func(button string) answer {
			t.Helper()
			for tries := 1; ; tries++ {
				p.open(ready.path)
				p.press(button)
				if got := p.answered(); got.status != 503 || tries == 10 { // a busy machine has no time for all rows; nothing is done twice
					return got
				}
			}
		}
		run("Add 10,000 players and ask").want(200, "The import has stopped", "2 of 10,000 rows are done.", "9,998 rows wait.")
		limited(4)
		players := coach.Call(t, "GET", "/api/players", nil).Want(t, 200).Items()
		coach.Call(t, "DELETE", "/api/players/"+players[0]["player_id"].(string), nil).Want(t, 204)
		run("Continue").want(200, "The import has stopped", "3 of 10,000 rows are done.")
		limited(5)
		coach.Call(t, "PUT", "/api/coach/subscription", map[string]any{"tier": "five"}).Want(t, 200)
		run("Continue").want(200, "The import has stopped", "6 of 10,000 rows are done.")
		limited(8)
		var names []string
		for _, player := range coach.Call(t, "GET", "/api/players", nil).Want(t, 200).Items() {
			names = append(names, player["student"].(map[string]any)["full_name"].(string))
		}
		slices.Sort(names)
		if want := []string{"Player 0", "Player 2", "Player 3", "Player 4", "Player 5"}; !slices.Equal(names, want) {
			t.Errorf("the players are %q, want %q", names, want)
		}
	}, tiers)
}

// TestSizeOfPages: no page is larger than 250 KiB, with full lists.
func TestSizeOfPages(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach, c := newFormClient(t, s, coachNumber)
	long := strings.Repeat("Venkatanarasimha ", 4) + "Rao"
	var player string
	for i := range 55 {
		player = coach.AddPlayer(t, named(long+strings.Repeat("i", i%20)+strings.Repeat("y", i/20), guardianNumber, studentNumber)).String("player_id")
	}
	guardian := s.SignIn(t, "guardian", guardianNumber)
	for _, link := range guardian.Call(t, "GET", "/api/me/players?limit=40", nil).Items() {
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": link["player_id"], "action": "rejected", "reason": strings.Repeat("नहीं ", 100)}).Want(t, 200)
	}
	for i := range 20 {
		coach.Upload(t, "certification", "licence.pdf", touchlinetest.PDF(500, i), "title", long).Want(t, 201)
	}
	s.Clock.Skip(75 * time.Hour)
	c.signIn(s, "coach", coachNumber)
	c.signIn(s, "guardian", guardianNumber)
	for _, path := range []string{
		"/coach", "/coach/players", "/coach/players?show=needs", "/coach/players/" + player, "/coach/players/" + player + "/edit", "/coach/players/remind",
		"/coach/notifications", "/coach/profile", "/coach/visibility", "/coach/settings", "/coach/settings/plan",
		"/me/guardian", "/me/guardian/messages", "/me/guardian/players/" + player, "/me/guardian/devices", "/me/guardian/disputes", "/me/guardian/settings",
	} {
		page := c.get(path).want(200)
		t.Logf("%s: %d bytes", page.path, len(page.raw))
		if page.path != path || len(page.raw) > 250<<10 {
			t.Errorf("%s has %d bytes, want %s with at most 250 KiB", page.path, len(page.raw), path)
		}
	}
}
