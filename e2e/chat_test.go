package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/message/whatsapp"
	"github.com/touchline/touchline/internal/message/whatsapp/whatsapptest"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/touchlinetest"
	"github.com/touchline/touchline/internal/store/storetest"
)

// chatService is a service whose chat is a WhatsApp account.
type chatService struct {
	*touchlinetest.Service
	cloud *whatsapptest.Cloud
}

// newChat starts a service with a WhatsApp account. kinds is the setting WHATSAPP.
func newChat(t *testing.T, database string, kinds ...string) chatService {
	t.Helper()
	return newChatWith(t, database, kinds)
}

func newChatWith(t *testing.T, database string, kinds []string, options ...touchlinetest.Option) chatService {
	t.Helper()
	cloud := whatsapptest.New(t)
	s := touchlinetest.New(t, database, append(options, func(c *config.Config) {
		c.WhatsApp, c.Endpoints.WhatsApp = kinds, cloud.API()
		c.WhatsAppAccount = config.WhatsAppAccount{
			PhoneID: config.Secret(cloud.PhoneID), Token: config.Secret(cloud.Token), AppSecret: config.Secret(cloud.AppSecret), VerifyToken: config.Secret(cloud.VerifyToken),
			Number: c.WhatsAppAccount.Number,
		}
	})...)
	for _, template := range whatsapp.NewTemplates(s.Config.Brand, s.Config.PublicURL) {
		body, err := json.Marshal(template)
		if err != nil {
			t.Fatal(err)
		}
		cloud.Create(t, body)
	}
	return chatService{s, cloud}
}

// status posts a status of message n of the Cloud API.
func (s chatService) status(t *testing.T, n int, status string, code int) {
	t.Helper()
	if res := s.cloud.Status(t, s.Config.PublicURL+"/receipts/whatsapp", n, status, code, s.cloud.AppSecret); res.StatusCode != 200 {
		t.Errorf("%s of message %d: %s", status, n, res.Status)
	}
}

// TestChat: a message on the channel chat reaches a family that has not answered, as a template, and SMS
// takes over only where it was chosen.
func TestChat(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		s := newChat(t, database, "chat")
		coach := s.Coach(t, coachNumber)
		asha := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		got := coach.Call(t, "GET", "/api/services/availability/"+asha, nil).Want(t, 200)
		if got.JSON["chat_enabled"] != true || got.JSON["chat_available"] != true {
			t.Errorf("availability: %s", got.Body)
		}
		send := func(text string, channels ...string) string {
			t.Helper()
			return coach.Call(t, "POST", "/api/messages", newMessage(text, channels, asha)).Want(t, 201).String("message_id")
		}
		state := func(id, want string) {
			t.Helper()
			var all []string
			eventually(t, "the message is "+want, func() bool {
				all = nil
				list, _ := coach.Call(t, "GET", "/api/messages/"+id, nil).Want(t, 200).JSON["recipients"].([]any)
				for _, c := range list[0].(object)["channels"].([]any) {
					c := c.(object)
					reason, _ := c["reason"].(string)
					all = append(all, strings.TrimSpace(c["channel"].(string)+" "+c["state"].(string)+" "+reason))
				}
				return slices.Equal(all, []string{want})
			})
			if t.Failed() {
				t.Logf("channels %q", all)
			}
		}

		id := send("Training is at five.\nBring water.", "chat")
		state(id, "chat sent")
		if m := s.cloud.Messages()[0]; m.To != guardianNumber || m.Template != "touchline_team_stop" || m.Text != "Message from Meera Nair: Training is at five. Bring water.\n\nTo get no more messages from this coach, answer STOP." {
			t.Errorf("WhatsApp got %+v", m)
		}
		s.status(t, 0, "sent", 0)
		s.status(t, 0, "delivered", 0)
		state(id, "chat delivered")
		readAt := func(id string) any {
			t.Helper()
			list := coach.Call(t, "GET", "/api/messages/"+id, nil).Want(t, 200).JSON["recipients"].([]any)
			return list[0].(object)["channels"].([]any)[0].(object)["read_at"]
		}
		if at := readAt(id); at != nil {
			t.Errorf("delivered: read at %v", at)
		}
		s.status(t, 0, "read", 0)
		at := readAt(id)
		s.Clock.Advance(time.Minute)
		s.status(t, 0, "read", 0)
		s.status(t, 0, "delivered", 0)
		state(id, "chat delivered")
		if again := readAt(id); at == nil || again != at {
			t.Errorf("read at %v, and at %v after a repeated call", at, again)
		}

		id = send("See you.", "chat", "sms")
		state(id, "chat queued awaiting_status")
		s.status(t, 1, "failed", 131026)
		state(id, "sms sent")
		if text := s.SMS(guardianNumber, "message", 1).Text; !strings.HasPrefix(text, "Meera Nair: See you.") {
			t.Errorf("the SMS is %q", text)
		}

		// WhatsApp has no templates in Odia: the words around the text are in Hindi, and the preview says so.
		body := child(2, "+919812300077")
		body["guardian"].(object)["language"] = "or"
		asha = coach.AddPlayer(t, body).String("player_id")
		got = coach.Call(t, "POST", "/api/messages/preview", newMessage("Come at six.", []string{"chat"}, asha)).Want(t, 200)
		if want := `"other_languages":[{"language":"or","leaves_in":"hi","people":1}]`; !strings.Contains(string(got.Body), want) {
			t.Errorf("preview: %s, want %s", got.Body, want)
		}
		b := signInPages(t, s.Service, "coach", coachNumber)
		b.Open("/coach/messages/write")
		page := b.Press("See how it arrives", "for", "player:"+asha, "audience", "guardian", "channels", "chat", "text", "Come at six.", "step", "preview")
		wantText(t, "the preview", page, []string{"1 person reads Odia. WhatsApp does not offer us Odia, so the words around your text are in Hindi there."}, []string{"SMS"})
		state(send("Come at six.", "chat"), "chat sent")
		if m := s.cloud.Messages()[2]; !strings.HasPrefix(m.Text, "संदेश, Meera Nair की ओर से: Come at six.") {
			t.Errorf("WhatsApp got %+v", m)
		}
	})
}

// inbound posts a message of a person to the webhook, and returns a function that repeats the call.
func (s chatService) inbound(t *testing.T, from string, fields object) (repeat func()) {
	t.Helper()
	s.Clock.Advance(time.Second) // times have no fractions of a second
	m := object{"from": strings.TrimPrefix(from, "+"), "id": "wamid.in" + uuid.NewString(), "timestamp": strconv.FormatInt(s.Clock.Now().Unix(), 10)}
	maps.Copy(m, fields)
	post := func() {
		t.Helper()
		if res := s.cloud.Post(t, s.Config.PublicURL+"/receipts/whatsapp", object{"messages": []any{m}}, s.cloud.AppSecret); res.StatusCode != 200 {
			t.Errorf("inbound: %s", res.Status)
		}
	}
	s.cloud.SetOpen(from, true)
	post()
	return post
}

// says is the fields of a text.
func says(text string) object { return object{"type": "text", "text": object{"body": text}} }

// presses is the fields of a press on button n of a message.
func presses(m whatsapptest.Sent, n int) object {
	context := object{"from": "15550783881", "id": m.ID}
	if m.Template != "" {
		return object{"type": "button", "button": object{"text": "Button", "payload": m.Buttons[n]}, "context": context}
	}
	return object{"type": "interactive", "interactive": object{"type": "button_reply", "button_reply": object{"id": m.Buttons[n], "title": "Button"}}, "context": context}
}

// last waits until the Cloud API has n messages and returns the newest.
func (s chatService) last(t *testing.T, n int) whatsapptest.Sent {
	t.Helper()
	eventually(t, fmt.Sprintf("WhatsApp has %d messages", n), func() bool { return len(s.cloud.Messages()) >= n })
	all := s.cloud.Messages()
	if len(all) != n {
		t.Errorf("WhatsApp has %d messages, want %d; the newest is %+v", len(all), n, all[len(all)-1])
	}
	return all[n-1]
}

// TestChatAnswer: a question is answered by its buttons. Yes is asked once more; a slip, a late, repeated
// or forwarded button is no consent.
func TestChatAnswer(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		s := newChat(t, database, "request")
		coach := s.Coach(t, coachNumber)
		asha := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		state := func(want, via string) {
			t.Helper()
			got := coach.Call(t, "GET", "/api/players/approval-status/"+asha, nil).Want(t, 200)
			r, _ := got.JSON["guardian_request"].(object)
			if got.String("guardian_state") != want || via != fmt.Sprint(r["via"]) {
				t.Errorf("state %s via %v, want %s via %s", got.String("guardian_state"), r["via"], want, via)
			}
		}
		question := s.last(t, 1)
		if len(question.Buttons) != 3 || len(question.Links) != 1 || !strings.HasSuffix(question.Text, "Tap a button, or answer on the page.") {
			t.Fatalf("question %+v", question)
		}

		// Another number gets no answer about the question, and a stranger's press changes nothing.
		s.inbound(t, "+919812300099", presses(question, 1))
		if m := s.last(t, 2); !strings.HasPrefix(m.Text, "Nothing changed. This question is not for this number.") {
			t.Errorf("forwarded: %+v", m)
		}
		state("pending", "<nil>")

		s.inbound(t, guardianNumber, presses(question, 0))
		check := s.last(t, 3)
		if check.Text != "You are about to say yes for Player 1 to coach Meera Nair. Is that right?" && !strings.HasPrefix(check.Text, "You are about to say yes for ") || len(check.Buttons) != 2 {
			t.Errorf("check: %+v", check)
		}
		state("pending", "<nil>")
		s.Clock.Advance(10 * time.Minute)
		s.inbound(t, guardianNumber, presses(check, 0))
		late := s.last(t, 4)
		if !strings.HasPrefix(late.Text, "That was more than 10 minutes ago") || len(late.Buttons) != 3 {
			t.Errorf("too late: %+v", late)
		}
		state("pending", "<nil>")
		s.inbound(t, guardianNumber, presses(late, 0))
		repeat := s.inbound(t, guardianNumber, presses(s.last(t, 5), 0))
		if m := s.last(t, 6); !strings.HasPrefix(m.Text, "Thank you. You said yes for ") {
			t.Errorf("yes: %+v", m)
		}
		state("approved", "chat")
		repeat()
		s.last(t, 6)
		history := coach.Call(t, "GET", "/api/players/approval-status/"+asha, nil).Want(t, 200).JSON["history"].([]any)
		if len(history) != 1 || history[0].(object)["via"] != "chat" {
			t.Errorf("history %v", history)
		}
		sum := sha256.Sum256([]byte(question.Text))
		notice := s.Call(t, "GET", "/api/notice", "", nil).Want(t, 200).String("hash")
		if got := history[0].(object); got["text_hash"] != hex.EncodeToString(sum[:]) || got["notice_hash"] != notice {
			t.Errorf("got %v, want the hash of %q", got, question.Text)
		}

		// A button of the answered question changes nothing.
		s.inbound(t, guardianNumber, presses(question, 1))
		if m := s.last(t, 7); !strings.HasPrefix(m.Text, "Nothing changed. You said yes for ") {
			t.Errorf("answered: %+v", m)
		}
		state("approved", "chat")

		// Forged calls and buttons that the service never made are no answer.
		res := s.cloud.Post(t, s.Config.PublicURL+"/receipts/whatsapp", object{"messages": []any{presses(question, 1)}}, "another secret")
		if res.StatusCode != 401 {
			t.Errorf("forged: %s", res.Status)
		}
		for _, id := range []string{"", "yes", "sure:x", "sure::1", "yes:" + uuid.NewString() + ":", "no:", strings.Repeat("x", 64<<10)} {
			s.inbound(t, guardianNumber, object{"type": "button", "button": object{"payload": id}})
		}
		s.last(t, 7)
		state("approved", "chat")

		// No and Not me count at once.
		for n, want := range map[int]string{1: "rejected", 2: "pending"} {
			before := len(s.cloud.Messages())
			other := child(n+10, fmt.Sprintf("+9198123000%d", n+40))
			id := coach.AddPlayer(t, other).String("player_id")
			s.inbound(t, fmt.Sprintf("+9198123000%d", n+40), presses(s.last(t, before+1), n))
			s.last(t, before+2)
			got := coach.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200)
			r, _ := got.JSON["guardian_request"].(object)
			if got.String("guardian_state") != want || r["via"] != "chat" || n == 2 && r["state"] != "disputed" {
				t.Errorf("button %d: %s", n, got.Body)
			}
		}
	})
}

// TestChatAnswerSeveral: a message with the questions about several children has one button. It asks each
// question with its own buttons, so that a yes is for one child.
func TestChatAnswerSeveral(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		s := newChatWith(t, database, []string{"request"}, func(c *config.Config) { c.MessagesGather = 2 * time.Minute })
		coach := s.Coach(t, coachNumber)
		var ids []string
		for i := range 4 {
			added := coach.AddPlayer(t, child(i, guardianNumber))
			ids = append(ids, added.String("player_id"))
			if i == 0 {
				s.last(t, 1)
				continue
			}
			eventually(t, "the question gathers", func() bool {
				got := coach.Call(t, "GET", "/api/approval/requests/"+added.String("guardian_request_id"), nil).Want(t, 200)
				return strings.Contains(string(got.Body), `"gathering"`)
			})
		}
		s.Clock.Advance(2*time.Minute + time.Second)
		gathered := s.last(t, 2)
		if len(gathered.Buttons) != 1 || len(gathered.Links) != 1 || !strings.HasPrefix(gathered.Text, "Hello! Coach Meera Nair added Asha Rao 1, Asha Rao 2 and Asha Rao 3.") {
			t.Fatalf("message of several questions: %+v", gathered)
		}
		states := func(want ...string) {
			t.Helper()
			var got []string
			for _, id := range ids {
				got = append(got, coach.Call(t, "GET", "/api/players/approval-status/"+id, nil).Want(t, 200).String("guardian_state"))
			}
			if !slices.Equal(got, want) {
				t.Errorf("states %q, want %q", got, want)
			}
		}
		s.inbound(t, "+919812300099", presses(gathered, 0))
		if m := s.last(t, 3); m.Text != "Nothing changed. This question is not for this number." || len(m.Buttons) != 0 {
			t.Errorf("another number: %+v", m)
		}
		repeat := s.inbound(t, guardianNumber, presses(gathered, 0))
		s.last(t, 6)
		repeat()
		s.last(t, 6)
		asked := s.cloud.Messages()[3:]
		for i, m := range asked {
			if want := fmt.Sprintf("May this sports app send you news about Asha Rao %d? Coach: Meera Nair.", i+1); m.Text != want || len(m.Buttons) != 3 {
				t.Errorf("question %d: %+v", i, m)
			}
		}
		s.inbound(t, guardianNumber, presses(asked[1], 0))
		check := s.last(t, 7)
		if !strings.HasPrefix(check.Text, "You are about to say yes for Asha Rao 2 to coach Meera Nair.") {
			t.Errorf("check: %+v", check)
		}
		states("pending", "pending", "pending", "pending")
		s.inbound(t, guardianNumber, presses(check, 0))
		s.last(t, 8)
		states("pending", "pending", "approved", "pending")
		s.inbound(t, guardianNumber, presses(asked[0], 1))
		s.last(t, 9)
		states("pending", "rejected", "approved", "pending")
		s.inbound(t, guardianNumber, presses(gathered, 0)) // one is open
		if m := s.last(t, 10); m.Text != asked[2].Text {
			t.Errorf("the open question: %+v", m)
		}
		s.inbound(t, guardianNumber, presses(s.cloud.Messages()[9], 1))
		s.last(t, 11)
		s.inbound(t, guardianNumber, presses(gathered, 0))
		if m := s.last(t, 12); !strings.HasPrefix(m.Text, "Nothing changed. You said no for Asha Rao 1") {
			t.Errorf("without an open question: %+v", m)
		}
		states("pending", "rejected", "approved", "rejected")
	})
}

// TestChatReplies: what a family writes by WhatsApp is in the conversation of the coach whom it means.
func TestChatReplies(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		s := newChat(t, database, "chat")
		coach := s.Coach(t, coachNumber)
		asha := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		replies := func(u *touchlinetest.User) (texts []string) {
			t.Helper()
			for _, r := range u.Call(t, "GET", "/api/messages/replies", nil).Want(t, 200).Items() {
				if r["channel"] != "chat" {
					t.Errorf("reply %v, want the channel chat", r)
				}
				texts = append(texts, r["text"].(string))
			}
			return texts
		}
		coach.Call(t, "POST", "/api/messages", newMessage("Training is at five.", []string{"chat"}, asha)).Want(t, 201)
		first := s.last(t, 1)
		repeat := s.inbound(t, guardianNumber, object{"type": "text", "text": object{"body": "She comes\u202e late."}, "context": object{"id": first.ID}})
		repeat()
		if got := replies(coach); !slices.Equal(got, []string{"She comes late."}) {
			t.Errorf("replies %q", got)
		}
		// Now a text needs no template.
		coach.Call(t, "POST", "/api/messages", newMessage("Fine.", []string{"chat"}, asha)).Want(t, 201)
		if m := s.last(t, 2); m.Template != "" || !strings.HasPrefix(m.Text, "Meera Nair: Fine.") {
			t.Errorf("in the conversation: %+v", m)
		}
		// A text without a visible character is no message; a file is named; STOP and HELP are for the service.
		s.inbound(t, guardianNumber, says("\u2800\u2800"))
		s.inbound(t, guardianNumber, object{"type": "image", "image": object{"id": "1", "caption": "Her shoes"}})
		if m := s.last(t, 3); m.Text != "Coach Meera Nair can read texts here, but can not open pictures, voice notes and files. Please write it in words." {
			t.Errorf("after a picture: %+v", m)
		}
		s.inbound(t, guardianNumber, object{"type": "audio", "audio": object{"id": "2", "voice": true}}) // told once a day
		s.inbound(t, guardianNumber, says(strings.Repeat("a", 64<<10)))
		s.inbound(t, "+919812300098", says("Hello"))
		got := replies(coach)
		if len(got) != 4 || got[2] != "(picture) Her shoes" || got[1] != "(voice note)" || len([]rune(got[0])) != 4000 {
			t.Errorf("%d replies, the newest %.20q, then %.20q", len(got), got[0], got[1:])
		}
		s.inbound(t, guardianNumber, says("help"))
		if m := s.last(t, 4); !strings.Contains(m.Text, "Send STOP") {
			t.Errorf("help: %+v", m)
		}

		// A number of two coaches is asked once.
		other := s.Coach(t, "+919812300002")
		other.AddPlayer(t, child(2, guardianNumber))
		s.inbound(t, guardianNumber, says("When is training?"))
		which := s.last(t, 5)
		s.inbound(t, guardianNumber, says("Or is there none?"))
		if got := replies(other); len(got) != 0 || len(which.Buttons) != 2 || len(replies(coach)) != 4 {
			t.Fatalf("before the choice the other coach has %q; asked %+v", got, which)
		}
		s.inbound(t, guardianNumber, presses(which, 0)) // the newest player's coach
		s.last(t, 6)
		s.inbound(t, guardianNumber, says("Thanks"))
		if got := replies(other); !slices.Equal(got, []string{"Thanks", "Or is there none?", "When is training?"}) {
			t.Errorf("after the choice: %q", got)
		}
		s.inbound(t, guardianNumber, object{"type": "text", "text": object{"body": "To Meera"}, "context": object{"id": first.ID}})
		if got := replies(coach); got[0] != "To Meera" {
			t.Errorf("an answer to a message of the first coach: %q", got)
		}
		s.last(t, 6)

		// After STOP nothing leaves by chat.
		s.inbound(t, guardianNumber, object{"type": "text", "text": object{"body": "STOP"}})
		if m := s.last(t, 7); !strings.HasPrefix(m.Text, "You get no more messages from coach ") {
			t.Errorf("STOP: %+v", m)
		}
	})
}

// TestConversations: a coach reads and writes one list for each family, over chat and SMS.
func TestConversations(t *testing.T) {
	t.Parallel()
	storetest.Either(t, func(t *testing.T, database string) {
		s := newChat(t, database, "chat")
		coach, other := s.Coach(t, coachNumber), s.Coach(t, "+919812300002")
		asha := coach.AddPlayer(t, child(1, guardianNumber)).String("player_id")
		bela := coach.AddPlayer(t, child(2, "+919812300071")).String("player_id")
		if got := coach.Call(t, "GET", "/api/conversations", nil).Want(t, 200).Items(); len(got) != 0 {
			t.Errorf("before the first message: %v", got)
		}
		path := "/api/conversations/" + asha + "/guardian"
		key := "Idempotency-Key: " + uuid.NewString()
		first := coach.Call(t, "POST", path, object{"text": "Training is at five."}, key).Want(t, 201)
		if again := coach.Call(t, "POST", path, object{"text": "Training is at five."}, key).Want(t, 201); string(again.Body) != string(first.Body) {
			t.Errorf("the same key again: %s", again.Body)
		}
		s.last(t, 1)
		s.Clock.Advance(time.Second)
		coach.Call(t, "POST", "/api/messages", newMessage("Bring water.", []string{"sms"}, bela)).Want(t, 201)
		s.inbound(t, guardianNumber, says("We come."))
		list := coach.Call(t, "GET", "/api/conversations?limit=1", nil).Want(t, 200)
		items := list.Items()
		if len(items) != 1 || items[0]["player_id"] != asha || items[0]["unread"] != float64(1) || items[0]["party"] != "guardian" {
			t.Errorf("first page: %s", list.Body)
		}
		items = coach.Call(t, "GET", "/api/conversations?limit=1&cursor="+list.String("next_cursor"), nil).Want(t, 200).Items()
		if len(items) != 1 || items[0]["player_id"] != bela || items[0]["unread"] != float64(0) {
			t.Errorf("second page: %v", items)
		}
		coach.Call(t, "POST", path, object{"text": "Thanks.", "channels": []string{"sms"}}).Want(t, 201)
		s.SMS(guardianNumber, "message", 1)
		read := func() (all []string) {
			t.Helper()
			for _, i := range coach.Call(t, "GET", path, nil).Want(t, 200).Items() {
				c := i["channels"].([]any)[0].(object)
				all = append(all, fmt.Sprint(i["from"], " ", c["channel"], " ", i["text"]))
			}
			return all
		}
		items = coach.Call(t, "GET", path, nil).Want(t, 200).Items()
		if sent := items[2]["channels"].([]any)[0].(object); sent["read_at"] != nil {
			t.Errorf("before it was read: %v", sent)
		}
		if reply := items[1]["channels"].([]any)[0].(object); reply["at"] != items[1]["created_at"] {
			t.Errorf("the reply arrived at %v, want %v", reply["at"], items[1]["created_at"])
		}
		s.status(t, 0, "read", 0) // a late delivered changes nothing
		s.status(t, 0, "delivered", 0)
		items = coach.Call(t, "GET", path, nil).Want(t, 200).Items()
		if sent := items[2]["channels"].([]any)[0].(object); sent["state"] != "delivered" || sent["read_at"] == nil {
			t.Errorf("after it was read: %v", sent)
		}
		if got := read(); !slices.Equal(got, []string{"coach sms Thanks.", "guardian chat We come.", "coach chat Training is at five."}) {
			t.Errorf("conversation: %q", got)
		}

		// Another coach gets 404, whether or not the player exists.
		missing := other.Call(t, "GET", "/api/conversations/"+uuid.NewString()+"/guardian", nil).Want(t, 404)
		for _, path := range []string{path, "/api/conversations/" + asha + "/coach", "/api/conversations/x/guardian"} {
			got := other.Call(t, "GET", path, nil).Want(t, 404)
			if got.String("detail") != missing.String("detail") {
				t.Errorf("%s: %s", path, got.Body)
			}
			other.Call(t, "POST", path, object{"text": ""}).Want(t, 404)
		}
		coach.Call(t, "POST", path, object{"text": "\u2800"}).Want(t, 422)
		coach.Call(t, "POST", path, object{"text": "x", "channels": []string{"fax"}}).Want(t, 422)
		coach.Call(t, "GET", path+"?cursor=x", nil).Want(t, 422)
		s.SignIn(t, "guardian", guardianNumber).Call(t, "GET", path, nil).Want(t, 403, "role_not_allowed")
		coach.Call(t, "DELETE", "/api/players/"+asha, nil).Want(t, 204)
		coach.Call(t, "GET", path, nil).Want(t, 404)
		if got := coach.Call(t, "GET", "/api/conversations", nil).Want(t, 200).Items(); len(got) != 1 {
			t.Errorf("after the player was removed: %v", got)
		}
	})
}
