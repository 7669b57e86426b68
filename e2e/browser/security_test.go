package browser_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestFormsWithoutFileRefuseMultipart checks that a form cannot skip the check of its account
// with another media type.
func TestFormsWithoutFileRefuseMultipart(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach, c := newFormClient(t, s, coachNumber)
	player := coach.AddPlayer(t, touchlinetest.Minor("+919812345680", "")).String("player_id")
	for _, path := range []string{"/coach/players/" + player + "/remove", "/coach/players/" + player + "/remove?account=" + coach.ID, "/coach/settings", "/sign-out", "/a"} {
		if got := c.upload(path, []byte("x")); got.status != 422 {
			t.Errorf("%s: got status %d, want 422", path, got.status)
		}
	}
	c.get("/coach/players/" + player).want(200)
}

// TestFormsRefuseInvalidText checks that a page never repeats text that is not UTF-8.
func TestFormsRefuseInvalidText(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	_, c := newFormClient(t, s, coachNumber)
	for _, got := range []answer{
		c.post("/coach/profile", "name", "\xff\xfe", "bio", "Hockey").want(422),
		c.post("/coach/players/add", "\xff", "x").want(422),
		c.get("/sign-in/coach?next=/%ff").want(200),
		c.get("/coach/players?q=%ff").want(200),
	} {
		if !utf8.ValidString(got.body) {
			t.Errorf("%s: the page is not UTF-8", got.path)
		}
	}
}

// TestCookiesOnHTTPS checks the names and attributes of every cookie of a sign-in.
func TestCookiesOnHTTPS(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.PublicURL = "https://touchline.example" })
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var pending *http.Cookie
	post := func(path string, form url.Values) []*http.Cookie {
		t.Helper()
		req, err := http.NewRequest("POST", s.URL+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if pending != nil {
			req.AddCookie(pending)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		for _, c := range resp.Cookies() {
			if !strings.HasPrefix(c.Name, "__Host-touchline-") || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" {
				t.Errorf("%s sets the cookie %s", path, c)
			}
		}
		return resp.Cookies()
	}
	begun := post("/sign-in/coach", url.Values{"number": {coachNumber}})
	if len(begun) != 1 {
		t.Fatalf("got the cookies %v", begun)
	}
	pending = begun[0]
	names := map[string]bool{}
	for _, c := range post("/sign-in/code", url.Values{"code": {s.OTP(coachNumber, 0)}}) {
		names[c.Name] = true
	}
	if !names["__Host-touchline-coach"] || !names["__Host-touchline-device-coach"] {
		t.Errorf("got the cookies %v", names)
	}
}

// TestSignOutOfAnotherAccount checks that the form of an account that was signed in before
// does not sign the next one out.
func TestSignOutOfAnotherAccount(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	_, c := newFormClient(t, s, coachNumber)
	account := c.account
	c.account = "01a20250-0000-7000-8000-000000000000"
	c.post("/sign-out", "role", "coach").want(409, "You are signed in with another number")
	c.get("/coach/profile").want(200)
	c.account = account
	c.post("/sign-out", "role", "coach").want(200)
	if got := c.get("/coach/profile"); !strings.HasPrefix(got.path, "/sign-in/coach") {
		t.Errorf("after the sign-out /coach/profile leads to %s", got.path)
	}
}

// TestRateLimitOfPages checks that a page says when the limit of an address ends, and that pages
// and the API share it.
func TestRateLimitOfPages(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t), func(c *config.Config) { c.RequestsPerAddressMinute = 60 })
	for range 40 {
		s.Call(t, "GET", "/api/coaches", "", nil).Want(t, 200)
	}
	for range 2000 { // the limit allows one more each second, and a slow machine sends few
		resp, err := http.Get(s.URL + "/sign-in/coach")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode == 429 {
			if got := resp.Header.Get("Retry-After"); got != "1" {
				t.Errorf("got Retry-After %q, want 1 second", got)
			}
			return
		}
	}
	t.Error("no request was refused")
}

// TestConsoleRefusesFormsOfPublicPages checks that a page of the public listener cannot send
// forms to the console with the operator's cookie.
func TestConsoleRefusesFormsOfPublicPages(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	send := func(origin string) int {
		t.Helper()
		req, err := http.NewRequest("POST", s.AdminURL+"/language", strings.NewReader("to=en"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", origin)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	if got := send(s.URL); got != 403 {
		t.Errorf("a form of the public listener got status %d, want 403", got)
	}
	if got := send(s.AdminURL); got != 303 {
		t.Errorf("a form of the console got status %d, want 303", got)
	}
}

// TestOddQueries checks that no database error comes from the address of a page.
func TestOddQueries(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		_, c := newFormClient(t, s, coachNumber)
		operators := &formClient{t: t, url: s.AdminURL, client: c.client}
		operators.post("/sign-in", "token", s.Operator(t, operator.KYC, operator.Coaches, operator.Deliveries, operator.Audit).Token)
		for _, value := range []string{"%00", "%ff", "x", "%27%3B--", "%25", strings.Repeat("9", 3000)} {
			for _, path := range []string{"/coach/players?q=", "/coach/players?cursor=", "/coach/players?after=", "/coach/notifications?cursor=", "/coach/notifications?after=", "/coach/settings/plan/", "/a?code=", "/coaches?q=", "/coaches?sport=", "/coaches?cursor=", "/coaches?after=", "/coaches/", "/coach/documents/"} {
				if got := c.get(path + value); got.status >= 500 {
					t.Errorf("%s: got status %d", got.path, got.status)
				}
			}
			for _, path := range []string{"/coaches?q=", "/audit?after=", "/kyc?at=2026-01-01T00:00:00Z&after=", "/deliveries?at=2026-01-01T00:00:00Z&after=", "/kyc/", "/coaches/"} {
				if got := operators.get(path + value); got.status >= 500 {
					t.Errorf("console %s: got status %d", got.path, got.status)
				}
			}
		}
		for _, path := range []string{"/sign-in/coach", "/a", "/coach/profile", "/coach/players/add", "/coach/settings", "/coach/settings/plan"} {
			got := c.post(path, "number", coachNumber, "code", "\x00", "name", "a\x00b", "bio", "\x00", "experience_years", "1", "sports", "\x00",
				"student_name", "\x00", "language", "\x00", "time_zone", "\x00", "tier", "\x00")
			if got.status >= 500 {
				t.Errorf("%s with NUL: got status %d", path, got.status)
			}
		}
	}, enableKYC)
}

// TestShortCodeLimit checks that the sixth wrong code for a number is refused, with what
// the person can do instead.
func TestShortCodeLimit(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		_, c := newFormClient(t, s, coachNumber)
		for range 5 {
			c.post("/a", "code", "ABCDEF", "number", "+919812345680").want(200, "Enter the code")
		}
		limited := c.post("/a", "code", "ABCDEF", "number", "+919812345680").want(429, "Wait 60 minutes, or open the link in the SMS.")
		if wait, err := strconv.Atoi(limited.header.Get("Retry-After")); err != nil || wait < 3500 || wait > 3600 {
			t.Errorf("got Retry-After %q, want an hour", limited.header.Get("Retry-After"))
		}
	})
}

// TestSpentLimits sends forms beyond a limit. Each page is 429 with Retry-After, says the wait and
// keeps what was written.
func TestSpentLimits(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, c := newFormClient(t, s, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		limited := func(c *formClient, path string, want []string, pairs ...string) {
			t.Helper()
			page := c.post(path, pairs...).want(429, want...)
			if wait, err := strconv.Atoi(page.header.Get("Retry-After")); err != nil || wait < 1 {
				t.Errorf("%s: got Retry-After %q, want seconds", path, page.header.Get("Retry-After"))
			}
		}
		for range 2 {
			s.Clock.Skip(time.Minute)
			coach.Call(t, "POST", "/api/approval/send-reminder", map[string]any{"player_id": player, "approver_type": "guardian"}).Want(t, 202)
		}
		last := strconv.FormatInt(s.Clock.Now().UnixMicro(), 10)
		limited(c, "/coach/players/"+player+"/remind", []string{"You have used the reminders for this week. Wait 168 hours, or call."}, "party", "guardian", "last", last)

		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": player, "action": "approved"}).Want(t, 200)
		fee := addOverdueFee(t, coach, player)
		for range 3 {
			coach.Call(t, "POST", "/api/fees/"+fee+"/remind", nil)
		}
		limited(c, "/coach/fees/"+fee+"/remind", []string{"You have reminded three times today. You can remind again tomorrow."})

		family := newVisitor(t, s.URL)
		family.account = guardian.ID
		s.Clock.Skip(2 * time.Minute)
		family.signIn(s, "guardian", guardianNumber)
		for range conversation.MaxRepliesPerDay {
			guardian.Call(t, "POST", "/api/me/players/"+player+"/messages", map[string]any{"text": "We come."}).Want(t, 201)
		}
		limited(family, "/me/guardian/players/"+player+"/messages", []string{"You have written many messages today. Wait 24 hours, then write again.", "One more question"}, "text", "One more question")
	})
}
