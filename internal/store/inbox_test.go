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
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/message"
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
	return message.Reply{Channel: message.WhatsApp, From: n, ID: id, SentAt: p.clock.Now().Truncate(time.Second)}
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
	items, err := in.CoachConversation(bg, first, a.ID, actor.Guardian, "", 5)
	if ok(p, err); len(items) != 3 || items[0].Text != "Hello" {
		p.Errorf("conversation %+v", items)
	}
	with, answerBy, err := in.With(bg, first, a.ID, actor.Guardian)
	if ok(p, err); with.StudentName != "Asha Rao" || answerBy != conversation.SMS {
		p.Errorf("conversation with %+v by %q", with, answerBy)
	}
	question := p.questionOf(number(382))
	press("ask:" + question)
	press("no:" + question)
	if last := s.answers[len(s.answers)-1]; !strings.HasPrefix(last.Text, "You said no for ") {
		p.Errorf("the last answer is %+v", last)
	}
	if n := p.count(`SELECT count(*) FROM team_replies WHERE player_id = $1`, a.ID); n != 3 {
		p.Errorf("the first coach has %d replies, want 3", n)
	}
	if n := p.count(`SELECT count(*) FROM team_replies WHERE coach_id = $1`, second.AccountID); n != conversation.MaxRepliesPerDay {
		p.Errorf("the second coach has %d replies, want %d", n, conversation.MaxRepliesPerDay)
	}
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
			decided := len(history) == 1 && got.GuardianApprover.Request.State == approval.RequestState(got.GuardianApprover.Consent.State)
			disputed := len(history) == 0 && got.GuardianApprover.Request.State == approval.RequestDisputed
			if !decided && !disputed || got.GuardianApprover.Request.Via != actor.ViaChat {
				p.Errorf("history %+v, request %+v", history, got.GuardianApprover.Request)
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
		if got := p.checkInvariants(coach, a.ID); got.GuardianApprover.Consent.State != approval.Pending || got.GuardianApprover.OpenRequest() == nil {
			p.Errorf("after old buttons: %+v", got.GuardianApprover)
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
