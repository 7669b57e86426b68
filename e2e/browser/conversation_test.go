package browser_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
	"github.com/touchline/touchline/internal/web"
)

// TestConversationPage: a coach reads and writes one list over SMS and the app, without a script, and a reply
// is read when the coach opens the page.
func TestConversationPage(t *testing.T) {
	t.Parallel()
	s := touchlinetest.New(t, storetest.SQLite(t))
	coach, c := newFormClient(t, s, coachNumber)
	id := coach.AddPlayer(t, touchlinetest.Minor(guardianNumber, studentNumber)).String("player_id")
	guardian := s.SignIn(t, "guardian", guardianNumber)
	guardian.Call(t, "PUT", "/api/approval/guardian-response", map[string]any{"player_id": id, "action": "approved"}).Want(t, 200)
	path := "/coach/conversations/" + id + "/guardian"
	if page := c.get("/coach/players/" + id).want(200); !strings.Contains(page.raw, `href="`+path+`"`) {
		t.Error("the page of the player does not link to the conversation")
	}
	c.get(path).want(200, "You have not written to each other yet")
	guardian.Call(t, "POST", "/api/me/players/"+id+"/messages", map[string]any{"text": "Hello."}).Want(t, 201)
	c.get("/coach/notifications").want(200, path)
	coach.Call(t, "POST", "/api/messages/replies/read", map[string]any{"all": true}).Want(t, 200)
	s.Clock.Advance(time.Second)
	for i := range 31 {
		guardian.Call(t, "POST", "/api/me/players/"+id+"/messages", map[string]any{"text": fmt.Sprint("Reply ", i, ".")}).Want(t, 201)
		s.Clock.Advance(time.Second)
	}
	c.get("/coach/messages/replies").want(200)
	c.get("/coach/messages").want(200, `31<span class="visually-hidden"> New`)
	live, err := http.NewRequest(http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	live.Header.Set(web.LiveHeader, "yes")
	resp, err := c.client.Do(live)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	c.get("/coach/messages").want(200, `31<span class="visually-hidden"> New`) // a page that a script loads again is not read
	read := c.get(path).want(200, "Reply 30.", "Reply 1.", "New")
	if strings.Index(read.body, "Reply 1.") > strings.LastIndex(read.body, "Reply 30.") || strings.LastIndex(read.body, "Reply 30.") > strings.Index(read.body, `name="text"`) {
		t.Error("the conversation is not in the order of time, with the form below it")
	}
	c.get("/coach/messages").want(200, `1<span class="visually-hidden"> New`)
	older := c.get(path).want(200).without("Reply 0.", "Hello.")
	c.get(html.UnescapeString(regexp.MustCompile(`href="(` + path + `\?after=[^"]+)"`).FindStringSubmatch(older.raw)[1])).want(200, "Reply 0.")
	if unread := coach.Call(t, "GET", "/api/messages/replies?unread=true", nil).Want(t, 200).Items(); len(unread) != 0 {
		t.Errorf("%d replies are unread", len(unread))
	}
	if news := coach.Call(t, "GET", "/api/notifications?unread=true", nil).Want(t, 200); strings.Contains(string(news.Body), "team_reply") {
		t.Error("the notification of a reply that was read is unread")
	}
	c.post(path, "text", " ", "channels", "in_app").want(422)
	c.post(path, "text", "See you.", "channels", "fax").want(422)
	form := []string{"text", "See you at six.", "channels", "sms", "request", uuid.Must(uuid.NewV7()).String()}
	c.post(path, form...).want(200)
	c.post(path, form...).want(200) // the same form again is one message
	c.post(path, append([]string{"text", "See you at seven."}, form[2:]...)...).want(422, "sent before with other content", "See you at seven.")
	if sent := coach.Call(t, "GET", "/api/messages", nil).Want(t, 200).Items(); len(sent) != 1 {
		t.Errorf("%d messages, want 1", len(sent))
	}
	s.SMS(guardianNumber, "message", 0)
	c.get(path).want(200, "See you at six.", "SMS")
	_, d := newFormClient(t, s, "+919812300099")
	none := strings.Replace(path, id, uuid.Must(uuid.NewV7()).String(), 1)
	missing := d.get(none).want(404)
	if got := d.get(path).want(404); strings.ReplaceAll(got.body, path, none) != missing.body {
		t.Error("another coach's conversation differs from a missing one")
	}
	c.get("/coach/conversations/" + id + "/coach").want(404)
}
