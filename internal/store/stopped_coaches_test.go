package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

// TestRepeatedReply: providers repeat calls and deliver them late. Only a START that is newer than
// the stop ends it.
func TestRepeatedReply(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		begin := p.clock.Now().Truncate(time.Second)
		coach, other := p.coach(1).AccountID, p.coach(4).AccountID
		reply := func(id string, minute int) message.Reply {
			return message.Reply{Channel: message.Chat, From: number(2), ID: id, SentAt: begin.Add(time.Duration(minute) * time.Minute)}
		}
		stop := func(r message.Reply, coachID string, want bool) {
			p.Helper()
			if stopped, err := p.db.Outbox.StopCoachByReply(bg, r, coachID); err != nil || stopped != want {
				p.Errorf("STOP %s: %t, %v; want %t", r.ID, stopped, err, want)
			}
		}
		start := func(r message.Reply, want int) {
			p.Helper()
			if coaches, err := p.db.Outbox.AllowCoachesByReply(bg, r, coach); err != nil || coaches != want {
				p.Errorf("START %s: %d coaches, %v; want %d", r.ID, coaches, err, want)
			}
		}
		p.clock.advance(time.Hour)
		stop(reply("stop 0", 0), coach, true)
		start(reply("start 1", 1), 1)
		stop(reply("stop 2", 2), coach, true)
		start(reply("start 1", 1), 0)
		start(reply("late start 1", 1), 0)
		stop(reply("stop 0", 0), other, false) // meanwhile the other coach wrote
		stop(reply("stop 5", 5), coach, true)
		start(reply("late start 4", 4), 0)
		stop(reply("late stop 3", 3), coach, true)
		start(reply("late start again", 4), 0)
		start(reply("start 6", 6), 1)

		// A provider that names no time.
		without := func(id string) message.Reply { return message.Reply{Channel: message.SMS, From: number(2), ID: id} }
		stop(without("stop"), coach, true)
		start(without("start"), 1)
		stop(without("stop again"), coach, true)
		start(without("start"), 0)
		start(without(""), 1)
		stop(without(""), coach, true)
		start(without(""), 1)

		// A stop of the page is newer than a late START.
		ok(p, p.db.Outbox.StopCoach(bg, number(2), coach))
		start(reply("late start 59", 59), 0)
		start(reply("start 60", 60), 1)

		ok(p, second(p.db.Sweep(bg, p.clock.Now().Add(message.RepliesKept-time.Second))))
		stop(reply("stop 0", 0), coach, false)
		ok(p, second(p.db.Sweep(bg, p.clock.Now().Add(message.RepliesKept+time.Second))))
		if n := p.count(`SELECT count(*) FROM handled_replies`); n != 0 {
			p.Errorf("%d replies are left after the sweep", n)
		}
	})
}

// TestReplyWithAnIDOfAnother: a gateway that sends the same id with each reply, such as an
// unknown parameter as it is, loses no STOP of another person and no later STOP.
func TestReplyWithAnIDOfAnother(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, at := p.coach(1).AccountID, p.clock.Now().Truncate(time.Second)
		reply := func(n int, text string, at time.Time) message.Reply {
			return message.Reply{Channel: message.SMS, From: number(n), Text: text, ID: "%I", SentAt: at}
		}
		for _, r := range []message.Reply{reply(2, "STOP", at), reply(3, "STOP", at), reply(2, "STOP", at.Add(time.Minute))} {
			if stopped, err := p.db.Outbox.StopCoachByReply(bg, r, coach); err != nil || !stopped {
				p.Errorf("STOP of %s at %s: %t, %v; want true", r.From, r.SentAt, stopped, err)
			}
		}
		if stopped, err := p.db.Outbox.StopCoachByReply(bg, reply(3, "STOP", at), coach); err != nil || stopped {
			p.Errorf("repeated STOP: %t, %v; want false", stopped, err)
		}
		if coaches, err := p.db.Outbox.AllowCoachesByReply(bg, reply(3, "START", at), coach); err != nil || coaches != 1 {
			p.Errorf("START: %d coaches, %v; want 1", coaches, err)
		}
	})
}

// TestStopOnThePageAfterAReply: START does not end a stop that the person repeated on the page.
func TestStopOnThePageAfterAReply(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, other := p.coach(1).AccountID, p.coach(4).AccountID
		reply := message.Reply{Channel: message.SMS, From: number(2)}
		ok(p, second(p.db.Outbox.StopCoachByReply(bg, reply, coach)))
		ok(p, p.db.Outbox.StopCoach(bg, number(2), coach))
		ok(p, second(p.db.Outbox.StopCoachByReply(bg, reply, coach)))
		if coaches, err := p.db.Outbox.AllowCoachesByReply(bg, reply, other); err != nil || coaches != 0 {
			p.Errorf("START to another coach: %d coaches, %v; want 0", coaches, err)
		}
		if coaches, err := p.db.Outbox.AllowCoachesByReply(bg, reply, coach); err != nil || coaches != 1 {
			p.Errorf("START to this coach: %d coaches, %v; want 1", coaches, err)
		}
	})
}

// TestCloseAccountOfStoppedCoach: a person who stopped a coach gets no SMS that the coach closed the account.
// The notification in the app stays.
func TestCloseAccountOfStoppedCoach(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, other := p.coach(1), p.coach(4)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		p.sendRequests(2)
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		ok(p, p.decide(p.as(actor.Student, number(3)), a.ID, approval.Approve))
		ok(p, p.db.Outbox.StopCoach(bg, number(3), other.AccountID))
		ok(p, second(p.db.Outbox.StopCoachByReply(bg, message.Reply{From: number(2), Channel: message.SMS, Text: "STOP"}, coach.AccountID)))
		p.closeAccount(coach)
		for n, want := range map[int]int{2: 0, 3: 1} {
			if got := p.count(`SELECT count(*) FROM deliveries WHERE kind = 'notice' AND channel = 'sms' AND recipient = $1`, string(number(n))); got != want {
				p.Errorf("%d SMS about the closure to number %d, want %d", got, n, want)
			}
			if got := p.count(`SELECT count(*) FROM notifications n JOIN accounts a ON a.id = n.account_id WHERE n.type = 'coach_left' AND a.mobile_number = $1`, string(number(n))); got != 1 {
				p.Errorf("%d notifications of number %d, want 1", got, n)
			}
		}
	})
}
