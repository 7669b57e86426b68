package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// TestReplyOnAnotherReplica: a reply by WhatsApp that one replica gets is in the stream and in the conversation of
// the coach at another one within a second. On SQLite there is one process.
func TestReplyOnAnotherReplica(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database string) {
		s := newChat(t, database, "chat")
		coach := s.Coach(t, coachNumber)
		asha := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		elsewhere := coach
		if strings.HasPrefix(database, "postgres") {
			elsewhere = coach.On(s.Replica())
		}
		events := streamIDs(t, elsewhere, "")
		var took []time.Duration
		for i := range 9 {
			text := fmt.Sprint("Reply ", i)
			start := time.Now()
			s.inbound(t, guardianNumber, says(text))
			select {
			case <-events:
			case <-time.After(touchlinetest.CallLimit):
				t.Fatalf("%q is not in the stream", text)
			}
			got := elsewhere.Call(t, "GET", "/api/conversations/"+asha+"/guardian?limit=1", nil).Want(t, 200).Items()
			took = append(took, time.Since(start))
			if len(got) != 1 || got[0]["text"] != text {
				t.Errorf("after the event the conversation has %v, want %q", got, text)
			}
		}
		slices.Sort(took)
		t.Logf("visible after %v", took)
		if median := took[len(took)/2]; median > time.Second { // one may wait for the machine
			t.Errorf("the median reply is visible after %v", median)
		}
	})
}

// TestChatAway: while WhatsApp is away for an hour, messages by chat alone wait, and each leaves once when it is
// back. A button is refused, so that Meta repeats the call, and counts once.
func TestChatAway(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		s := newChatWith(t, database, []string{"chat", "request"}, func(c *config.Config) { c.AccessTokenLifetime = 24 * time.Hour })
		coach := s.Coach(t, coachNumber)
		const families = 8
		var ids []string
		for i := range families {
			ids = append(ids, coach.AddPlayer(t, child(i, fmt.Sprintf("+9198123001%02d", i))).String("player_id"))
			s.last(t, i+1)
		}
		question := s.cloud.Messages()[0]
		s.cloud.SetUnavailable(true)
		message := coach.Call(t, "POST", "/api/messages", newMessage("Training is at five.", []string{"chat"}, ids...)).Want(t, 201).String("message_id")
		count := func(state string) float64 {
			t.Helper()
			n, _ := coach.Call(t, "GET", "/api/messages/"+message, nil).Want(t, 200).JSON["counts"].(object)[state].(float64)
			return n
		}
		press := object{"from": strings.TrimPrefix(question.To, "+"), "id": "wamid.in" + uuid.NewString(), "timestamp": fmt.Sprint(s.Clock.Now().Unix())}
		maps.Copy(press, presses(question, 1))
		post := func() int {
			t.Helper()
			return s.cloud.Post(t, s.Config.PublicURL+"/receipts/whatsapp", object{"messages": []any{press}}, s.cloud.AppSecret).StatusCode
		}
		if got := post(); got < 500 {
			t.Errorf("a button while WhatsApp is away: status %d, want 5xx", got)
		}
		for range 12 { // an hour
			s.Clock.Advance(5 * time.Minute)
			if n := count("queued"); n != families {
				t.Fatalf("%v messages wait, want %d", n, families)
			}
		}
		before := len(s.cloud.Messages())
		s.cloud.SetUnavailable(false)
		eventually(t, "the messages leave", func() bool {
			s.Clock.Advance(time.Minute)
			return count("sent") == families
		})
		s.cloud.SetOpen(question.To, true)
		if got := post(); got != 200 {
			t.Errorf("the button again: status %d", got)
		}
		if got := post(); got != 200 {
			t.Errorf("the button a third time: status %d", got)
		}
		to := map[string]int{}
		for _, m := range s.cloud.Messages()[before:] {
			to[m.To+" "+m.Template]++
		}
		for key, n := range to {
			if n != 1 {
				t.Errorf("%s got %d messages", key, n)
			}
		}
		if len(to) != families+1 {
			t.Errorf("WhatsApp got %v, want a message for each of %d families and one answer", to, families)
		}
		got := coach.Call(t, "GET", "/api/players/approval-status/"+ids[0], nil).Want(t, 200)
		if history, _ := got.JSON["history"].([]any); got.String("guardian_state") != "rejected" || len(history) != 1 {
			t.Errorf("after the button: %s", got.Body)
		}
	})
}
