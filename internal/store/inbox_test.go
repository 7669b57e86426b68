package store_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/api"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/outbox"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// said keeps what the service said by WhatsApp.
type said struct {
	mu      sync.Mutex
	answers []message.ChatAnswer
	err     error
}

func (s *said) say(_ context.Context, _ phone.Number, a message.ChatAnswer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.answers = append(s.answers, a)
	return nil
}

func (p *fixture) inbox(s *said) *conversation.Inbox {
	return &conversation.Inbox{
		QuestionURL: func(id string) string { return "https://touchline.example/a/" + id },
		Service:     p.messages(0), Approvals: p.Service, Outbox: p.db.Outbox, Say: s.say, Brand: "Touchline", URL: "https://t.example/me", Log: slog.New(slog.DiscardHandler),
	}
}

// chatFrom is a reply by WhatsApp with an id.
func (p *fixture) chatFrom(n phone.Number, id string) message.Reply {
	return message.Reply{Channel: message.Chat, From: n, ID: id, SentAt: p.clock.Now().Truncate(time.Second)}
}

// change runs a statement that changes the tables behind the service's back.
func (p *fixture) change(query string, args ...any) {
	p.Helper()
	_, err := p.db.Exec(bg, query, args...)
	ok(p, err)
}

// questionOf returns the delivery of the newest question to a number.
func (p *fixture) questionOf(n phone.Number) (id string) {
	p.Helper()
	ok(p, p.db.QueryRow(bg, `SELECT max(id) FROM deliveries WHERE recipient = $1 AND kind = 'request'`, string(n)).Scan(&id))
	return id
}

// inboxStatements runs the statements of the inbox.
func (p *fixture) inboxStatements() {
	p.Helper()
	s := &said{}
	in := p.inbox(s)
	first, second := p.coach(380), p.coach(381)
	a := p.add(first, "Asha Rao", number(382), "")
	receive := func(r message.Reply) {
		p.Helper()
		ok(p, in.Receive(bg, r))
	}
	in.OpenCode = func(context.Context, phone.Number, time.Time) (auth.OpenCode, bool, error) {
		return auth.OpenCode{}, false, errors.New("read the code")
	}
	asks := p.chatFrom(number(382), "asks")
	asks.Text = "Sign in to Touchline"
	if err := in.Receive(bg, asks); err == nil {
		p.Error("a code that cannot be read: no error")
	}
	in.OpenCode = nil
	id := 0
	text := func(body string) message.Reply {
		id++
		r := p.chatFrom(number(382), fmt.Sprint("in", id))
		r.Text = body
		return r
	}
	press := func(button string) {
		p.Helper()
		r := text("")
		r.Button = button
		receive(r)
	}
	receive(text("Hello"))
	picture := text("")
	picture.Media = "image"
	receive(picture)
	receive(text("HELP"))
	r := text("Hello")
	r.Context = "wamid.unknown"
	receive(r)
	p.add(second, "Bela Rao", number(382), "")
	receive(text("Which of you?"))
	press("coach:" + second.AccountID)
	receive(text("Thanks"))
	for range conversation.MaxRepliesPerDay + 1 {
		receive(text("Again"))
	}
	list, err := in.Conversations(bg, second, api.Keyset{}, 5)
	if ok(p, err); len(list) != 1 || list[0].Unread != conversation.MaxRepliesPerDay {
		p.Errorf("conversations %+v", list)
	}
	items, err := in.CoachConversation(bg, first, a.ID, actor.Guardian, "", "", 5)
	if ok(p, err); len(items) != 3 || items[0].Text != "Hello" {
		p.Errorf("conversation %+v", items)
	}
	with, answerBy, err := in.With(bg, first, a.ID, actor.Guardian, "")
	if ok(p, err); with.StudentName != "Asha Rao" || answerBy != conversation.SMS {
		p.Errorf("conversation with %+v by %q", with, answerBy)
	}
	question := p.questionOf(number(382))
	p.answerStatements(s, in, question, text)
	press("ask:" + question)
	press("no:" + question)
	if last := s.answers[len(s.answers)-1]; !strings.HasPrefix(last.Text, "You said no for ") {
		p.Errorf("the last answer is %+v", last)
	}
	press("yes:" + question) // says how it stands
	if n := p.count(`SELECT count(*) FROM team_replies WHERE player_id = $1`, a.ID); n != 3 {
		p.Errorf("the first coach has %d replies, want 3", n)
	}
	if n := p.count(`SELECT count(*) FROM team_replies WHERE coach_id = $1`, second.AccountID); n != conversation.MaxRepliesPerDay {
		p.Errorf("the second coach has %d replies, want %d", n, conversation.MaxRepliesPerDay)
	}
}

// answerStatements runs the statements that place replies, and those behind the answers to STOP and to replies that
// answer no question.
func (p *fixture) answerStatements(s *said, in *conversation.Inbox, question string, text func(body string) message.Reply) {
	p.Helper()
	replies := &message.Replies{Store: p.db.Outbox, Chat: in.Receive, Log: slog.New(slog.DiscardHandler)}
	apply := func(r message.Reply) {
		p.Helper()
		ok(p, replies.Apply(bg, r))
	}
	p.change(`UPDATE deliveries SET provider_id = 'wamid.question', channel = 'chat', state = 'sent', attempts = 1, total_attempts = 1 WHERE id = $1`, question)
	_, err := p.db.Outbox.StoreReceipt(bg, message.Report{MessageID: question, Attempt: 1, Receipt: message.ReceiptDelivered, UserID: "IN.1"})
	ok(p, err)
	s.err = errors.New("away")
	stop := text("STOP")
	stop.Context = "wamid.question"
	if err := replies.Apply(bg, stop); err == nil {
		p.Error("the answer to STOP was lost, and the call succeeded")
	}
	s.err = nil
	for _, r := range []message.Reply{{Text: "Yes"}, {Text: "Yes", Context: "wamid.question"}, {Text: "STOP"}, {Text: "STOP"}, {Text: "START"}, {Text: "START"}, {Button: "ask:" + question}, {UserID: "IN.2", Context: "wamid.question", Text: "help"}} {
		placed := text(r.Text)
		placed.From, placed.Context, placed.Button, placed.UserID = "", r.Context, r.Button, "IN.1"
		if r.UserID != "" {
			placed.UserID = r.UserID
		}
		apply(placed)
	}
	if n := p.count(`SELECT count(*) FROM chat_users WHERE user_id = 'IN.2' AND mobile_number = $1`, string(number(382))); n != 1 {
		p.Errorf("%d rows of the newest user id, want 1", n)
	}
}

// TestPlacedReplies: a reply without a number is of the person to whom the message under its user id went, else of the
// recipient of the message that it quotes or answers. If they differ, the person is not known.
func TestPlacedReplies(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		for n := 2; n < 5; n++ {
			p.add(coach, fmt.Sprint("Child ", n), number(n), "")
			p.change(`UPDATE deliveries SET provider_id = $2, channel = 'chat' WHERE id = $1`, p.questionOf(number(n)), fmt.Sprint("wamid.", n))
		}
		place := func(want phone.Number, r message.Reply) {
			p.Helper()
			if got, err := p.db.Outbox.PlaceReply(bg, r); err != nil || got != want {
				p.Errorf("%+v: %q, %v; want %q", r, got, err, want)
			}
		}
		button := func(n int) string { return "no:" + p.questionOf(number(n)) }
		place("", message.Reply{})
		place("", message.Reply{UserID: "IN.2"})
		place(number(2), message.Reply{UserID: "IN.9", Button: button(2)})
		place("", message.Reply{UserID: "IN.9"}) // a button does not say whose id it is
		place(number(3), message.Reply{Context: "wamid.3"})
		place("", message.Reply{UserID: "IN.9", Context: "wamid.3", Button: button(2)})
		place("", message.Reply{Context: "wamid.0", Button: "coach:x"})
		place(number(3), message.Reply{UserID: "IN.3", Context: "wamid.3", Button: button(3)})
		place(number(3), message.Reply{UserID: "IN.3"})
		place(number(3), message.Reply{UserID: "IN.3", Context: "wamid.2", Button: button(2)}) // forwarded
		place(number(4), message.Reply{From: number(4), UserID: "IN.4", Context: "wamid.2"})
		place(number(4), message.Reply{UserID: "IN.4"})
		place(number(4), message.Reply{From: number(4), UserID: "IN.44"})
		place("", message.Reply{UserID: "IN.4"}) // a number has one id
		place(number(99), message.Reply{From: number(99), UserID: "IN.99"})
		place("", message.Reply{UserID: "IN.99"}) // a stranger leaves no trace
		place(number(2), message.Reply{From: number(2), UserID: "IN.3"})
		place(number(2), message.Reply{UserID: "IN.3"}) // the id moved with its owner
		p.clock.advance(outbox.UsersKept + time.Hour)
		_, err := p.db.Sweep(bg, p.clock.Now())
		ok(p, err)
		if n := p.count(`SELECT count(*) FROM chat_users`); n != 0 {
			p.Errorf("%d user ids are kept for ever", n)
		}
	})
}

// TestStopIsAnswered: STOP is answered once for each coach, START once, and an answer that was not sent is sent when the
// provider repeats the call.
func TestStopIsAnswered(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := &said{}
		replies := &message.Replies{Store: p.db.Outbox, Chat: p.inbox(s).Receive, Log: slog.New(slog.DiscardHandler)}
		n := 0
		say := func(text string) message.Reply {
			n++
			r := p.chatFrom(number(2), fmt.Sprint("s", n))
			r.Text = text
			return r
		}
		want := func(r message.Reply, answers ...string) {
			p.Helper()
			before := len(s.answers)
			ok(p, replies.Apply(bg, r))
			var got []string
			for _, a := range s.answers[before:] {
				got = append(got, a.Text)
			}
			if fmt.Sprint(got) != fmt.Sprint(answers) {
				p.Errorf("%q was answered %q, want %q", r.Text, got, answers)
			}
		}
		const (
			stopped = "You get no more messages from coach Meera. Write START to get them again."
			none    = "No coach wrote to you here before, so nothing was stopped. You can choose here who may write to you: https://t.example/me"
			allowed = "The coaches that you stopped by STOP can write to you again. Write STOP to get no more messages."
		)
		coach := p.coach(1)
		p.change(`UPDATE coaches SET name = 'Meera' WHERE id = $1`, coach.AccountID)
		want(say("STOP")) // a stranger
		p.add(coach, "Asha Rao", number(2), "")
		p.add(p.coach(3), "Asha Rao", number(2), "")
		want(say("STOP"), none)
		p.change(`UPDATE deliveries SET channel = 'chat', state = 'sent', attempts = 1, total_attempts = 1 WHERE recipient = $1 AND request_id IN (SELECT id FROM requests WHERE coach_id = $2)`,
			string(number(2)), coach.AccountID)
		s.err = errors.New("away")
		first := say("STOP")
		if err := replies.Apply(bg, first); err == nil {
			p.Error("the answer was lost, and the call succeeded")
		}
		if n := p.count(`SELECT count(*) FROM stopped_coaches`); n != 1 {
			p.Error("the STOP waits for its answer")
		}
		s.err = nil
		want(first, stopped)
		want(first)
		want(say("Stop please"))
		p.clock.advance(time.Minute)
		start := say("START")
		want(start, allowed)
		want(start)
		want(first)
		p.clock.advance(time.Minute)
		want(say("STOP"), stopped)
		s.err = &message.SendError{Permanent: true, Reason: "WhatsApp responded 400, error 131026"}
		want(say("START"))
	})
}

// TestHints: a typed answer, a reaction, an edit and a message without content get the question again, a few times a day, and the
// coach sees what they are. Nothing is answered by them.
func TestHints(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := &said{}
		in := p.inbox(s)
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		question := p.questionOf(number(2))
		p.change(`UPDATE deliveries SET provider_id = 'wamid.q' WHERE id = $1`, question)
		n := 0
		hinted := func(want bool, r message.Reply, text string) message.Reply {
			p.Helper()
			n++
			full := p.chatFrom(number(2), fmt.Sprint("h", n))
			full.Text, full.Kind, full.Context, full.Media = r.Text, r.Kind, r.Context, r.Media
			before := len(s.answers)
			ok(p, in.Receive(bg, full))
			got := s.answers[before:]
			hint := len(got) == 1 && strings.HasPrefix(got[0].Text, "Please press a button. Nothing is answered yet. May this sports app ") && len(got[0].Buttons) == 3
			if hint != want || !want && len(got) > 0 && r.Kind != message.ReplyUnsupported {
				p.Errorf("%+v was answered %+v; want a hint: %t", r, got, want)
			}
			list, err := in.Replies(bg, coach, false, "", 1)
			if ok(p, err); len(list) != 1 || list[0].Text != text {
				p.Errorf("%+v is %+v for the coach, want %q", r, list, text)
			}
			return full
		}
		first := hinted(true, message.Reply{Text: "Yes"}, "(typed, no answer to your question) Yes")
		before := len(s.answers)
		ok(p, in.Receive(bg, first))
		if len(s.answers) != before {
			p.Error("a repeated call is answered again")
		}
		hinted(true, message.Reply{Text: "ना"}, "(typed, no answer to your question) ना")
		hinted(true, message.Reply{Text: "She may join.", Context: "wamid.q"}, "(typed, no answer to your question) She may join.")
		hinted(false, message.Reply{Text: "When is training?"}, "When is training?")
		hinted(true, message.Reply{Kind: message.ReplyReaction, Text: "👍", Context: "wamid.q"}, "(reaction) 👍")
		hinted(true, message.Reply{Kind: message.ReplyEdit, Text: "Yes, she may"}, "(edited) Yes, she may")
		hinted(true, message.Reply{Kind: message.ReplyUnsupported}, "(a message that can not be shown)")
		hinted(false, message.Reply{Kind: message.ReplyDeleted}, "(deleted a message)")
		hinted(true, message.Reply{Kind: message.ReplyReaction}, "(reaction removed)")
		if got := p.checkInvariants(coach, a.ID); got.Party(actor.Guardian).Consent.State != approval.Pending || got.Party(actor.Guardian).OpenRequest() == nil {
			p.Errorf("after texts: %+v", got.Party(actor.Guardian))
		}
		before = len(s.answers)
		for i := range 30 {
			r := p.chatFrom(number(2), fmt.Sprint("loop", i))
			r.Text = "Yes"
			ok(p, in.Receive(bg, r))
		}
		if got := len(s.answers) - before; got > 10 {
			p.Errorf("a program that answers each message got %d messages", got)
		}
		p.clock.advance(25 * time.Hour)
		hinted(true, message.Reply{Text: "No"}, "(typed, no answer to your question) No")
		press := p.chatFrom(number(2), "press")
		press.Button = "no:" + question
		ok(p, in.Receive(bg, press))
		hinted(false, message.Reply{Text: "Yes"}, "Yes") // the question is answered
		hinted(false, message.Reply{Kind: message.ReplyReaction, Text: "🎉"}, "(reaction) 🎉")
	})
}

// TestButtonRaces presses the buttons of one question at once, each several times, as a provider that
// repeats its calls does: one decision counts, and a later press changes nothing.
func TestButtonRaces(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		in := p.inbox(&said{})
		for round := range 8 {
			n := number(10 + round)
			a := p.add(coach, fmt.Sprint("Child ", round), n, "")
			question := p.questionOf(n)
			sure := message.ChatPress{Action: message.ChatSure, ID: question, AskedAt: p.clock.Now().Truncate(time.Second)}
			buttons := []string{sure.String(), "no:" + question, "not_me:" + question, "yes:" + question}
			for i, err := range concurrently(12, func(i int) error {
				r := p.chatFrom(n, fmt.Sprint(round, " ", i%4))
				r.Button = buttons[i%4]
				return in.Receive(bg, r)
			}) {
				if err != nil {
					p.Errorf("press %d: %v", i, err)
				}
			}
			got := p.checkInvariants(coach, a.ID)
			history, err := p.history(a.ID)
			ok(p, err)
			decided := len(history) == 1 && got.Party(actor.Guardian).Request.State == approval.RequestState(got.Party(actor.Guardian).Consent.State)
			disputed := len(history) == 0 && got.Party(actor.Guardian).Request.State == approval.RequestDisputed
			if !decided && !disputed || got.Party(actor.Guardian).Request.Via != actor.ViaChat {
				p.Errorf("history %+v, request %+v", history, got.Party(actor.Guardian).Request)
			}
		}
	})
}

// TestOldButtons: the button of a closed question never answers the question that follows it.
func TestOldButtons(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, s := p.coach(1), &said{}
		in := p.inbox(s)
		a := p.add(coach, "Asha Rao", number(2), "")
		old := p.questionOf(number(2))
		sure := message.ChatPress{Action: message.ChatSure, ID: old, AskedAt: p.clock.Now().Truncate(time.Second)}
		press := func(id, button string) error {
			r := p.chatFrom(number(2), id)
			r.Button = button
			return in.Receive(bg, r)
		}
		ok(p, press("1", "no:"+old))
		p.clock.advance(49 * time.Hour)
		_, _, err := p.send(coach, a.ID, actor.Guardian)
		ok(p, err)
		for i, button := range []string{sure.String(), "yes:" + old, "no:" + old, "not_me:" + old} {
			ok(p, press(fmt.Sprint("old", i), button))
		}
		if got := p.checkInvariants(coach, a.ID); got.Party(actor.Guardian).Consent.State != approval.Pending || got.Party(actor.Guardian).OpenRequest() == nil {
			p.Errorf("after old buttons: %+v", got.Party(actor.Guardian))
		}
		// Without an answer to the person the call fails, so that the provider repeats it; the decision counts once.
		s.err = errors.New("away")
		question := p.questionOf(number(2))
		if err := press("new", "no:"+question); err == nil {
			p.Error("the answer was lost, and the call succeeded")
		}
		s.err = nil
		ok(p, press("new", "no:"+question))
		history, err := p.history(a.ID)
		if ok(p, err); len(history) != 2 {
			p.Errorf("history %+v, want two rejections", history)
		}
	})
}

// TestReplyBySMS: a reply by SMS goes to the coach whose message was the newest, without a question back.
func TestReplyBySMS(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := &said{}
		in := p.inbox(s)
		p.add(p.coach(1), "Asha Rao", number(3), "")
		second := p.coach(2)
		p.clock.advance(time.Minute)
		p.add(second, "Bela Rao", number(3), "")
		r := p.chatFrom(number(3), "1")
		r.Channel, r.Text = message.SMS, "We come."
		for range 2 {
			ok(p, in.Receive(bg, r))
		}
		list, err := in.Replies(bg, second, false, "", 5)
		if ok(p, err); len(list) != 1 || list[0].Channel != conversation.SMS || len(s.answers) != 0 {
			p.Errorf("replies %+v, answers %+v", list, s.answers)
		}
	})
}

// TestReplyAfterRemoval: a reply by SMS to a coach who removed the player goes to a coach whom the family still has. A STOP to it is
// answered without the name of that coach.
func TestReplyAfterRemoval(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := &said{}
		in := p.inbox(s)
		gone, second := p.coach(1), p.coach(2)
		p.add(second, "Asha Rao", number(3), "")
		p.add(p.coach(4), "Bela Rao", number(3), "")
		a := p.add(gone, "Chitra Rao", number(3), "")
		p.change(`UPDATE deliveries SET state = 'sent', attempts = 1, total_attempts = 1 WHERE recipient = $1 AND request_id IN (SELECT id FROM requests WHERE coach_id = $2)`,
			string(number(3)), gone.AccountID)
		ok(p, p.Remove(bg, gone, a.ID))
		p.rename(gone, "Secret Coach")
		r := p.chatFrom(number(3), "1")
		r.Channel, r.Text = message.SMS, "We come."
		ok(p, in.Receive(bg, r))
		if n := p.count(`SELECT count(*) FROM team_replies WHERE coach_id <> $1`, gone.AccountID); n != 1 {
			p.Errorf("%d replies, want one that a coach can read", n)
		}
		replies := &message.Replies{Store: p.db.Outbox, Chat: in.Receive, Log: slog.New(slog.DiscardHandler)}
		stop := p.chatFrom(number(3), "2")
		stop.Text = "STOP"
		ok(p, replies.Apply(bg, stop))
		if n := p.count(`SELECT count(*) FROM stopped_coaches WHERE coach_id = $1`, gone.AccountID); n != 1 || len(s.answers) != 1 || strings.Contains(s.answers[0].Text, "Secret") {
			p.Errorf("%d stops, answers %+v", n, s.answers)
		}
	})
}

// TestReplyRaces: replies that arrive at once and repeatedly are saved once each, also while the person
// chooses a coach.
func TestReplyRaces(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		s := &said{}
		in := p.inbox(s)
		first, second := p.coach(1), p.coach(2)
		p.add(first, "Asha Rao", number(3), "")
		p.add(second, "Bela Rao", number(3), "")
		for i, err := range concurrently(16, func(i int) error {
			r := p.chatFrom(number(3), fmt.Sprint(i%8))
			r.Text = fmt.Sprint("Text ", i%8)
			if i == 15 {
				r.ID, r.Text, r.Button = "choice", "", "coach:"+second.AccountID
			}
			return in.Receive(bg, r)
		}) {
			if err != nil {
				p.Errorf("call %d: %v", i, err)
			}
		}
		r := p.chatFrom(number(3), "choice again")
		r.Button = "coach:" + second.AccountID
		ok(p, in.Receive(bg, r))
		if n := p.count(`SELECT count(*) FROM team_replies WHERE coach_id = $1`, second.AccountID); n != 8 {
			p.Errorf("the chosen coach has %d replies, want 8", n)
		}
		if n := p.count(`SELECT count(*) FROM team_replies WHERE coach_id = $1`, first.AccountID) + p.count(`SELECT count(*) FROM chat_held`); n != 0 {
			p.Errorf("%d texts are elsewhere", n)
		}
	})
}
