package browser_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
)

// TestToldSentences: what pages say about questions, reminders and removals is true of what was queued for each person, also
// of one who stopped the messages of the coach.
func TestToldSentences(t *testing.T) {
	t.Parallel()
	touchlinetest.Each(t, func(t *testing.T, s *touchlinetest.Service) {
		c := newTold(t, s)
		deliveries := func(request, of string) (list []string) {
			for _, item := range c.coach.Call(t, "GET", "/api/approval/requests/"+request, nil).Want(t, 200).JSON["deliveries"].([]any) {
				if d := item.(map[string]any); d["channel"] == of {
					list = append(list, fmt.Sprint(d["state"], " ", d["reason"]))
				}
			}
			return list
		}
		player := func(id string) *touchlinetest.Response {
			return c.coach.Call(t, "GET", "/api/players/"+id, nil).Want(t, 200)
		}

		// A player is added: each party has a question on a channel outside of the app.
		c.b.Open("/coach/players/add")
		wantText(t, c.b, "We ask the guardian and the student. Each answers for themselves.")
		c.b.Press("Add and ask", "student_name", "Farah Khan", "date_of_birth", "2014-04-30", "student_number", "98123 77711", "guardian_name", "Ali Khan", "relationship", "father", "guardian_number", "98123 77712")
		wantText(t, c.b, "The player was added. Below you see how far the questions are.")
		path, _, _ := strings.Cut(c.b.Page.Path, "?")
		farah := strings.TrimPrefix(path, "/coach/players/")
		for _, party := range []string{"guardian", "student"} {
			if got := deliveries(player(farah).String(party+"_request_id"), "sms"); len(got) != 1 {
				t.Errorf("the %s has the deliveries %q, want one SMS", party, got)
			}
		}

		// One party stops the messages. A day later both are reminded.
		s.SMS("+919812377712", "message", 0)
		s.SMS("+919812377711", "message", 0)
		stopped := s.SignIn(t, "guardian", "+919812377712")
		stopped.Call(t, "PATCH", "/api/me/preferences", map[string]any{"stopped_coaches": []string{c.coach.ID}}).Want(t, 200)
		s.Clock.Advance(24*time.Hour + time.Minute)
		signIn(t, s, c.b, "coach", coachNumber)
		c.b.Open("/coach/players/remind")
		wantText(t, c.b, "1 person gets none: they stopped your messages.")
		remind := func(party, want string) {
			t.Helper()
			if page := c.b.Send("POST", path+"/remind", url.Values{"account": {c.coach.ID}, "party": {party}, "last": {"0"}}); !strings.Contains(page.Text(), want) {
				t.Errorf("after the reminder of the %s: %d %s", party, page.Status, page.Text())
			}
		}
		remind("guardian", "This person stopped your messages. They see the question in the app only.")
		remind("student", "The reminder is on its way.")
		s.SMS("+919812377711", "message", 1)
		never := time.Now().Add(time.Second)
		for ; time.Now().Before(never); time.Sleep(50 * time.Millisecond) {
			if n := s.Sent("+919812377712", "message"); n != 1 {
				t.Fatalf("%d SMS were sent to who stopped the coach", n)
			}
		}
		if n := countType(t, stopped, "guardian_request"); n != 1 {
			t.Errorf("who stopped the coach has %d questions in the app, want one", n)
		}

		// Another name: both are asked again.
		before := player(farah)
		c.b.Open(path + "/edit")
		c.b.Press("Save", "student_name", "Farah Sheikh")
		wantText(t, c.b, "We ask the guardian again.", "We ask the student again.")
		c.b.Press("Save and ask")
		after := player(farah)
		for _, party := range []string{"guardian", "student"} {
			if id := after.String(party + "_request_id"); id == before.String(party+"_request_id") || after.String(party+"_status") != "pending" || len(deliveries(id, "sms")) != 1 {
				t.Errorf("the %s was not asked again", party)
			}
		}

		// Someone says that this is not them: the coach is told.
		told := countType(t, c.coach, "request_disputed")
		s.SignIn(t, "student", "+919812377711").Call(t, "POST", "/api/approval/requests/"+after.String("student_request_id")+"/dispute", nil).Want(t, 200)
		if n := countType(t, c.coach, "request_disputed"); n != told+1 {
			t.Errorf("the coach has %d notifications of disputes, want %d", n, told+1)
		}

		// A removal: those whose yes counts are told, by SMS unless they stopped the messages.
		for name, want := range map[string][2]int{"Asha": {1, 1}, "Bela": {0, 0}, "Dev": {0, 0}, "Esha": {1, 0}} {
			since := s.Clock.Now()
			player := "/coach/players/" + c.players[name]
			c.b.Open(player + "/remove")
			wantText(t, c.b, "Those whose yes counts now get a message about it, unless they stopped your messages.")
			c.b.Send("POST", player+"/remove", url.Values{"account": {c.coach.ID}})
			people, sms, _ := c.queued("player_removed", since)
			if people != want[0] || sms != want[1] {
				t.Errorf("%s: %d people have a notification and %d an SMS, want %v", name, people, sms, want)
			}
			s.Clock.Advance(time.Second)
		}
	}, func(c *config.Config) { c.AccessTokenLifetime = 72 * time.Hour })
}

// countType counts the notifications of a type.
func countType(t *testing.T, u *touchlinetest.User, kind string) (n int) {
	t.Helper()
	for _, item := range u.Call(t, "GET", "/api/notifications", nil).Want(t, 200).Items() {
		if item["type"] == kind {
			n++
		}
	}
	return n
}
