package browser_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestMessagePages walks through messages, replies and templates without JavaScript. The
// guardian sees what a yes opens, then the conversation.
func TestMessagePages(t *testing.T) {
	t.Parallel()
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		f := newFamily(t, s)
		s.SMS(guardianNumber, "message", 0)
		c := s.Browser(t)
		signIn(t, s, c, "coach", coachNumber)
		who := "player:" + f.player

		// A form with faults, the preview, a change, and the message.
		c.Open("/coach/messages")
		wantText(t, c, "You have written nothing yet")
		c.Press("Write a message")
		c.Press("See how it arrives", "for", "batch:"+f.player, "text", "a\u0001b", "audience", "guardian", "channels", "sms")
		if c.Page.Status != 422 {
			t.Fatalf("a form with faults: got %d, want 422", c.Page.Status)
		}
		wantText(t, c, "This has characters that we cannot use.")
		c.Press("See how it arrives", "for", "", "text", " ")
		wantText(t, c, "– Choose one of these.", "– Fill this in.")
		c.Press("See how it arrives", "for", "batch:"+f.player, "text", "Rain", "audience", "guardian", "channels", "sms")
		wantText(t, c, "This batch or player is no longer there.")
		const text = "Bring <b>water</b>. Call +91 98123 99999"
		c.Press("See how it arrives", "for", who, "text", text, "audience", "guardian", "channels", "sms")
		wantHeading(t, c, "Check your message")
		wantText(t, c, "1 person gets it. It takes 1 SMS. They cost ₹0.12.", "Meera Nair: Bring <b>water</b>. Call To stop:", "Until someone says yes, we leave out links")
		if s.Sent(guardianNumber, "message") != 1 {
			t.Error("the preview was sent")
		}
		c.Press("Change it")
		if got := c.Page.Value("text"); got != text {
			t.Errorf("the form has %q", got)
		}
		c.Press("See how it arrives", "audience", "guardian", "channels", "sms", "text", "Training is at six.", "for", who)
		form := url.Values{
			"account": {c.Page.Value("account")}, "request": {c.Page.Value("request")}, "for": {who}, "audience": {"guardian"}, "text": {"Training is at six."},
			"channels": {"sms"}, "step": {"send"},
		}
		c.Press("Send to 1 person")
		wantText(t, c, "The message is on its way.", "Training is at six.", "1 person · Guardians · SMS")
		message := c.Page.Path
		if again := c.Send("POST", s.URL+"/coach/messages/write", form); again.Path != message {
			t.Errorf("the same form led to %s and %s", message, again.Path)
		}
		if sms := s.SMS(guardianNumber, "message", 1); !strings.HasPrefix(sms.Text, "Meera Nair: Training is at six.") {
			t.Errorf("SMS: %s", sms.Text)
		}
		s.Clock.Pass(time.Second)
		message, _, _ = strings.Cut(message, "?")
		for range 200 { // the worker has stored the result soon
			if c.Open(message); strings.Contains(c.Page.Text(), "Sent 1") {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		wantText(t, c, "Sent 1", "Ravi Rao", "Asha Rao · Guardian")
		c.Open("/coach/messages/write?player=" + f.player)
		c.Press("See how it arrives", "for", who, "audience", "student", "channels", "in_app", "text", "In the app")
		wantText(t, c, "0 people get it.", "1 person is left out", "this person has not said yes to the app")
		if strings.Contains(c.Page.Text(), "Send to") {
			t.Error("a message to no one can be sent")
		}

		// Templates need a tier.
		c.Open("/coach/messages/templates")
		wantText(t, c, "Your plan has no new templates.")
		s.Operator(t, operator.Coaches).Call(t, "PUT", "/api/admin/coaches/"+f.coach.ID+"/tier", map[string]any{"tier": "academy"}).Want(t, 200)
		c.Open("/coach/messages/templates")
		c.Press("Save", "title", "Rain", "text", "")
		wantText(t, c, "Fill this in.")
		c.Press("Save", "title", "Rain", "text", "No training today: rain.")
		wantText(t, c, "The template is saved.", "No training today: rain.")
		c.Press("Use it: Rain")
		if got := c.Page.Value("text"); got != "No training today: rain." {
			t.Errorf("the template gives %q", got)
		}
		const rain = "No training today: rain."
		for written, want := range map[string]string{"Asha, read this.": "Asha, read this.\n" + rain, rain: rain, "": rain} {
			c.Press("Rain", "for", who, "audience", "student", "channels", "in_app", "text", written)
			if got := c.Page.Value("text"); got != want || c.Page.Value("audience") != "student" || !strings.Contains(c.Page.Body, `"`+who+`" selected`) {
				t.Errorf("a template after a text gives %q, want %q for the same recipient:\n%s", got, want, c.Page.Body)
			}
		}
		c.Open("/coach/messages/templates")
		c.Press("Delete: Rain")
		wantText(t, c, "The template is deleted.", "You have no templates")

		// The guardian: closed, open, closed.
		g := f.browser
		signIn(t, s, g, "guardian", guardianNumber)
		own := "/me/guardian/players/" + f.player
		closed := func(parts ...string) {
			t.Helper()
			for _, page := range []string{"/messages", "/progress", "/reports"} {
				g.Open(own + page)
				if wantText(t, g, parts...); g.Page.Status != 403 {
					t.Errorf("%s: got %d, want 403", page, g.Page.Status)
				}
				for _, secret := range []string{"six", "Sprint", "11.5", "<polyline", "Spring", "quick", "Thank"} {
					if strings.Contains(g.Page.Body, secret) {
						t.Errorf("%s shows %q:\n%s", page, secret, g.Page.Text())
					}
				}
			}
		}
		addRecords(t, s, c, f.player)
		closed("Here you will", "It opens when you say yes.", "Answer for Asha Rao")
		guardian := s.SignIn(t, "guardian", guardianNumber)
		guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": f.player, "action": "approved"}).Want(t, 200)
		f.coach.Call(t, "POST", "/api/messages", map[string]any{
			"to": map[string]any{"player_ids": []string{f.player}}, "audience": "guardian", "text": "The cup is on\nSunday.", "channels": []string{"in_app"},
		}).Want(t, 201)
		addRecords(t, s, c, f.player)
		for range 200 {
			if g.Open(own + "/messages"); strings.Contains(g.Page.Text(), "Sunday") {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		wantText(t, g, "Messages with Meera Nair", "The cup is on Sunday.")
		reply := g.Page.Value("request")
		for range 2 { // a second tap has no effect
			g.Open(own + "/messages")
			g.Press("Send", "text", "Thank you <3", "request", reply)
			wantText(t, g, "Your message is sent.", "Thank you <3")
		}
		if n := strings.Count(g.Page.Text(), "Thank you"); n != 1 {
			t.Errorf("the reply is there %d times", n)
		}
		g.Open(own + "/messages")
		g.Press("Send", "text", "We are late.", "request", reply) // a page from before the first reply
		wantText(t, g, "sent before with other content")
		g.Press("Send", "text", "We are late.")
		wantText(t, g, "Your message is sent.", "We are late.")
		g.Press("Send", "text", " ")
		wantText(t, g, "Fill this in.")
		// The session ends while the guardian writes.
		g.Open(own + "/messages")
		s.SignIn(t, "guardian", guardianNumber).Call(t, "POST", "/auth/logout", map[string]any{"all": true}).Want(t, 204)
		g.Press("Send", "text", "We come late.")
		sent := s.Sent(guardianNumber, "otp")
		g.Press("Send me a code", "number", guardianNumber)
		g.Press("Continue", "code", s.OTP(guardianNumber, sent))
		if got := g.Page.Value("text"); got != "We come late." || !strings.HasSuffix(g.Page.Path, "/messages") {
			t.Errorf("%s: after the sign-in the text is %q", g.Page.Path, got)
		}
		g.Open(own + "/progress")
		wantText(t, g, "Sprint", "11.5 s")
		if !strings.Contains(g.Page.Body, `<polyline points="56.0,`) || strings.Contains(g.Page.Body, "Delete") {
			t.Errorf("progress: %s", g.Page.Body)
		}
		g.Open(own + "/reports")
		wantText(t, g, "Spring & summer", "She is quick.")

		// The coach reads the reply.
		c.Open("/coach")
		wantText(t, c, "Messages 2 new", "The cup is on Sunday.")
		c.Open("/coach/messages")
		wantText(t, c, "Ravi Rao Asha Rao", "We are late.")
		c.Press("Mark all as read")
		c.Open("/coach/messages")
		if strings.Contains(c.Page.Text(), "New") {
			t.Error("the reply is still new")
		}
		other := s.Browser(t)
		s.Coach(t, "+919812300077")
		signIn(t, s, other, "coach", "+919812300077")
		for _, path := range []string{message, "/coach/players/" + f.player + "/progress", "/coach/players/" + f.player + "/reports"} {
			if got := other.Open(path).Status; got != 404 {
				t.Errorf("%s of another coach: got %d, want 404", path, got)
			}
		}

		s.SignIn(t, "guardian", guardianNumber).Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": f.player, "action": "revoked"}).Want(t, 200)
		closed("Here you will", "You took your yes back, so this page shows you nothing.")
	}, func(c *config.Config) { c.SMSPrices = []config.SMSPrice{{Country: "*", Price: 1200}} })
}

// TestMessageOverTheTiersLimit: the preview of a message with more SMS than the tier allows
// has no button that sends it, and a form that sends it anyway comes back with its text.
func TestMessageOverTheTiersLimit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tiers.json")
	const tiers = `{"tiers": [{"name": "free", "title": "Free", "self_service": true, "limits": {"players": 250, "messages_per_day": 2},
		"features": ["chat", "sms", "roster"], "shows": ["name"]}]}`
	if err := os.WriteFile(file, []byte(tiers), 0o600); err != nil {
		t.Fatal(err)
	}
	touchlinetest.Either(t, func(t *testing.T, s *touchlinetest.Service) {
		coach, c := newFormClient(t, s, coachNumber)
		player := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, "")).String("player_id")
		long := strings.Repeat("Bring water and a hat. ", 20)
		form := []string{"for", "player:" + player, "audience", "guardian", "channels", "sms", "text", long, "request", player}
		const write = "/coach/messages/write"
		c.post(write, append(form, "step", "preview")...).
			want(200, "It takes 4 SMS. They cost JPY\u00a016.", "Your plan allows 2 more SMS today. Write to fewer people, or write less.", "Change it").
			without("Send to 1 person")
		c.post(write, append(form, "step", "send")...).want(429, "Your plan allows 2 more SMS now. Write to fewer people, or write less.", strings.TrimSpace(long))
		if got := coach.Call(t, "GET", "/api/messages", nil).Want(t, 200).Items(); len(got) != 0 {
			t.Errorf("messages: %v", got)
		}
	}, func(c *config.Config) {
		c.SMSPrices, c.SMSCurrency, c.Tiers = []config.SMSPrice{{Country: "*", Price: 40_000}}, "JPY", file
	})
}

// addRecords adds measurements and a report of a player on the pages of the coach c.
func addRecords(t *testing.T, s *touchlinetest.Service, c *touchlinetest.Browser, player string) {
	t.Helper()
	day := func(n int) string { return s.Clock.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
	c.Open("/coach/players/" + player)
	c.Press("Progress")
	c.Press("Save", "metric", "", "value", "fast", "on", day(9))
	wantText(t, c, "Fill this in.", "Write a number, such as 12.4 or 1500.", "This day is in the future.")
	c.Press("Save", "metric", "Sprint", "value", "-1000000000001", "on", day(0))
	wantText(t, c, "This is too small.")
	c.Press("Save", "metric", "Run", "value", "1,500", "on", day(0)) // 1500 to one person and 1.5 to another
	wantText(t, c, "Write a number, such as 12.4 or 1500.")
	for i, value := range []string{"12,1", "11.5"} {
		c.Press("Save", "metric", "Sprint", "value", value, "unit", "s", "on", day(i-2))
		wantText(t, c, "The result is saved.")
	}
	wantText(t, c, "12.1 s", "11.5 s")
	c.Open("/coach/players/" + player)
	c.Press("Reports")
	c.Press("Save", "title", "Spring", "text", "She is quick.", "from", day(-1), "to", day(-9))
	wantText(t, c, "This must not be before the first day.")
	c.Press("Save", "from", day(-9), "to", day(-1))
	wantText(t, c, "The report is saved.", "She is quick.")
	c.Press("Edit Spring")
	c.Press("Save", "title", "Spring & summer")
	wantText(t, c, "Spring & summer")
}
