package e2e_test

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/message/whatsapp/whatsapptest"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// post posts messages of people in one call and returns the status of the response.
func (s chatService) post(t *testing.T, value object) int {
	t.Helper()
	res := s.cloud.Post(t, s.Config.PublicURL+"/receipts/whatsapp", value, s.cloud.AppSecret)
	return res.StatusCode
}

// from returns a message of a person with the fields.
func (s chatService) from(fields ...object) object {
	m := object{"id": "wamid.in" + uuid.NewString(), "timestamp": fmt.Sprint(s.Clock.Now().Unix())}
	for _, f := range fields {
		maps.Copy(m, f)
	}
	return m
}

// stoppedFor reports whether the guardian of a player with an open question stopped the coach.
func stoppedFor(t *testing.T, coach *touchlinetest.User, playerID string) bool {
	t.Helper()
	for _, item := range coach.Call(t, "GET", "/api/coach/pending-approvals", nil).Want(t, 200).Items() {
		if item["player_id"] == playerID {
			return item["blocked_by"] == "stopped"
		}
	}
	t.Errorf("no open question about player %s", playerID)
	return false
}

// TestChatWithoutNumber: WhatsApp leaves out the number of a person with a user name. A button, a quoting STOP, and
// after a report of a message also a plain text are of the recipient; what belongs to no known number is logged and counted.
func TestChatWithoutNumber(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		s := newChat(t, database, "request", "chat")
		coach := s.Coach(t, coachNumber)
		family := func(i int) (id, number string, question whatsapptest.Sent) {
			t.Helper()
			number = fmt.Sprintf("+9198123000%d", 40+i)
			before := len(s.cloud.Messages())
			id = coach.AddPlayer(t, child(i, number)).String("player_id")
			question = s.last(t, before+1)
			s.cloud.SetOpen(number, true)
			return id, number, question
		}
		user := func(i int) object { return object{"from_user_id": fmt.Sprintf("IN.1349%d", i)} }
		send := func(m object) {
			t.Helper()
			if got := s.post(t, object{"contacts": []any{object{"user_id": m["from_user_id"]}}, "messages": []any{m}}); got != 200 {
				t.Errorf("%v: status %d", m, got)
			}
		}
		state := func(id, want string) {
			t.Helper()
			got := coach.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200)
			if r, _ := got.JSON["guardian_request"].(object); got.String("guardian_state")+" "+fmt.Sprint(r["state"]) != want {
				t.Errorf("state %s %v, want %s", got.String("guardian_state"), r["state"], want)
			}
		}
		stopped := func(id string) bool { return stoppedFor(t, coach, id) }

		id, _, question := family(1)
		send(s.from(user(1), presses(question, 1)))
		state(id, "rejected rejected")
		id, _, question = family(2)
		send(s.from(presses(question, 2), object{"from": "IN.13492"}))
		state(id, "pending disputed")
		id, _, question = family(3)
		button := presses(question, 1)
		delete(button, "context") // the button alone
		send(s.from(user(3), button))
		state(id, "rejected rejected")

		// Another person with the same button, as in a forwarded message, is known by a report.
		id, _, question = family(4)
		other, _, question5 := family(5)
		s.status(t, len(s.cloud.Messages())-1, "sent", 0)
		if got := s.post(t, object{"statuses": []any{object{"id": question5.ID, "status": "delivered", "recipient_user_id": "IN.13495", "biz_opaque_callback_data": question5.Ref}}}); got != 200 {
			t.Errorf("status: %d", got)
		}
		send(s.from(user(5), presses(question, 1)))
		state(id, "pending pending")

		// Texts: quoting, or after the report.
		send(s.from(user(4), says("STOP"), object{"context": object{"id": question.ID}}))
		if !stopped(id) || stopped(other) {
			t.Error("a STOP that quotes a message did not stop its coach for its recipient alone")
		}
		send(s.from(user(5), says("stop")))
		if !stopped(other) {
			t.Error("a STOP of a known user id was lost")
		}
		// The other way to write a number.
		mexican := coach.AddPlayer(t, child(7, "+525512345678")).String("player_id")
		eventually(t, "the question leaves", func() bool { return s.cloud.Messages()[len(s.cloud.Messages())-1].To == "+525512345678" })
		send(s.from(object{"from": "5215512345678"}, says("STOP")))
		if !stopped(mexican) {
			t.Error("a STOP of the other form of a number was lost")
		}

		before := s.Log.String()
		send(s.from(object{"from_user_id": "IN.999887766"}, says("STOP")))
		added := strings.TrimPrefix(s.Log.String(), before)
		if !strings.Contains(added, "names no known number") || !strings.Contains(added, `"stop":true`) || strings.Contains(added, "999887766") || strings.Contains(added, "wamid") {
			t.Errorf("an unknown person left the log %q", added)
		}
		if text := string(s.Operator(t, operator.Metrics).Call(t, "GET", "/metrics", nil).Want(t, 200).Body); !strings.Contains(text, "\ntouchline_whatsapp_replies_unplaced_total 1\n") {
			t.Error("the reply of no known number is not counted")
		}
	})
}

// TestChatCallOfMany: an answer that WhatsApp refuses for good, and a reply that cannot be handled now, keep no other reply
// of the same call back. A repeated call does nothing twice.
func TestChatCallOfMany(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		s := newChat(t, database, "request")
		coach := s.Coach(t, coachNumber)
		number := func(i int) string { return fmt.Sprintf("+9198123000%d", 40+i) }
		var ids []string
		var questions []whatsapptest.Sent
		for i := range 4 {
			ids = append(ids, coach.AddPlayer(t, child(i, number(i))).String("player_id"))
			questions = append(questions, s.last(t, i+1))
			s.cloud.SetOpen(number(i), true)
		}
		from := func(i int) object { return object{"from": strings.TrimPrefix(number(i), "+")} }
		state := func(i int) string {
			return coach.Call(t, "GET", "/api/players/approval-status/"+ids[i], nil).Want(t, 200).String("guardian_state")
		}
		stopped := func(i int) bool { return stoppedFor(t, coach, ids[i]) }
		for _, code := range []int{131026, 131047, 131056, 470, 190} {
			s.cloud.Refuse(number(0), code)
			if got := s.post(t, object{"messages": []any{s.from(from(0), says("HELP")), s.from(from(1), says("STOP"))}}); got != 200 {
				t.Errorf("an answer refused with %d: status %d", code, got)
			}
			if !stopped(1) {
				t.Errorf("error %d of another number kept a STOP back", code)
			}
			s.post(t, object{"messages": []any{s.from(from(1), says("START"))}})
		}
		before := len(s.cloud.Messages())
		if got := s.post(t, object{"messages": []any{s.from(from(0), presses(questions[0], 1)), s.from(from(1), presses(questions[1], 1))}}); got != 200 || state(0) != "rejected" || state(1) != "rejected" {
			t.Errorf("two buttons: status %d, states %s and %s", got, state(0), state(1))
		}
		if got := len(s.cloud.Messages()) - before; got != 1 {
			t.Errorf("%d answers, want one to the number that takes them", got)
		}

		// WhatsApp is away: all is done, and the call is asked for again.
		s.cloud.Refuse(number(0), 131016)
		call := object{"messages": []any{s.from(from(0), says("HELP")), s.from(from(2), presses(questions[2], 1)), s.from(from(3), says("STOP"))}}
		res := s.cloud.Post(t, s.Config.PublicURL+"/receipts/whatsapp", call, s.cloud.AppSecret)
		body := new(bytes.Buffer)
		_, _ = body.ReadFrom(res.Body)
		if res.StatusCode != 503 || !strings.Contains(body.String(), `"unavailable"`) || state(2) != "rejected" || !stopped(3) {
			t.Errorf("status %d %s, state %s, stopped %t", res.StatusCode, body, state(2), stopped(3))
		}
		s.cloud.Refuse(number(0), 0)
		before = len(s.cloud.Messages())
		for range 3 {
			if got := s.post(t, call); got != 200 {
				t.Errorf("the call again: status %d", got)
			}
		}
		if all := s.cloud.Messages()[before:]; len(all) != 1 || all[0].To != number(0) {
			t.Errorf("the call again was answered %+v, want HELP once", all)
		}
	})
}
