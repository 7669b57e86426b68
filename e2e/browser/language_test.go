package browser_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestLanguageOfErrorPages checks that each page of an error has the link to the other language, and
// that the link leads to a page in it.
func TestLanguageOfErrorPages(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach, c := newFormClient(t, s, coachNumber)
	player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
	link := strings.TrimPrefix(linkTo(t, s, guardianNumber, 0), s.URL)
	s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "rejected"}).Want(t, 200)
	const unknown = "/coach/players/01890000-0000-7000-8000-000000000000"
	for _, test := range []struct {
		name   string
		answer func() answer
		status int
	}{
		{"an unknown page", func() answer { return c.get("/nothing/here") }, 404},
		{"an unknown player", func() answer { return c.get(unknown) }, 404},
		{"a form about an unknown player", func() answer { return c.post(unknown+"/remind", "party", "guardian") }, 404},
		{"a form to an unknown page", func() answer { return c.post("/coach/nothing/here") }, 404},
		{"a form that is refused", func() answer {
			return c.post("/coach/players/"+player+"/ask", "party", "guardian", "response", "pending")
		}, 422},
		{"a form of another account", func() answer { return c.as("another", func() answer { return c.post("/coach/profile") }) }, 409},
		{"a page that takes only forms", func() answer { return c.get("/coach/players/" + player + "/remind") }, 405},
		{"a form that is too long", func() answer { return c.post("/coach/players/add", "medical", strings.Repeat("x", 70<<10)) }, 413},
		{"a form without text", func() answer { return c.post("/coach/players/add", "medical", "\x00") }, 422},
		{"a form of another site", func() answer { return c.crossSite("/coach/players/add") }, 403},
		{"a closed link", func() answer { return newVisitor(t, s.URL).get(link) }, 404},
		{"an answer to a closed link", func() answer { return newVisitor(t, s.URL).post(link + "/answer") }, 404},
	} {
		got := test.answer()
		if got.status != test.status {
			t.Errorf("%s: got status %d, want %d", test.name, got.status, test.status)
		}
		if !strings.Contains(got.raw, `action="/language"`) || !strings.Contains(got.raw, `<button class="link" name="to" value="hi"`) {
			t.Errorf("%s: the page has no link to the other language:\n%s", test.name, got.raw)
			continue
		}
		if test.status == 404 && strings.HasPrefix(got.path, "/a/") {
			continue // the browser sends the path of a closed link as the Referer
		}
		back, _, _ := strings.Cut(after(got.raw, `name="back" value="`), `"`)
		visitor := newVisitor(t, s.URL)
		visitor.client.Jar = c.client.Jar
		hindi := visitor.post("/language", "to", "hi", "back", back)
		if !strings.Contains(hindi.raw, `<html lang="hi" dir="ltr">`) || hindi.status == 405 && test.status != 405 {
			t.Errorf("%s: the link leads to %s with status %d", test.name, hindi.path, hindi.status)
		}
		visitor.post("/language", "to", "en", "back", "/")
	}
}

// after returns what follows the first occurrence of a text.
func after(s, text string) string {
	_, rest, _ := strings.Cut(s, text)
	return rest
}

// as calls get with forms of another account.
func (c *formClient) as(account string, get func() answer) answer {
	defer func(before string) { c.account = before }(c.account)
	c.account = account
	return get()
}

// crossSite sends a form as a page of another site would.
func (c *formClient) crossSite(path string) answer {
	c.t.Helper()
	before := c.client.Transport
	defer func() { c.client.Transport = before }()
	c.client.Transport = otherOrigin{}
	return c.do("POST", path, "application/x-www-form-urlencoded", strings.NewReader(url.Values{"account": {c.account}}.Encode()))
}

// otherOrigin sends requests with the Origin of another site.
type otherOrigin struct{}

func (otherOrigin) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Origin", "https://elsewhere.example")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	return http.DefaultTransport.RoundTrip(r)
}
