package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/privacy"
)

// TestMessagesToSharedNumber: what left for a number counts until the last family account with it is deleted. A guardian who shares
// the number with the student deletes the account. Before, the student got a third message of the week, and STOP stopped another coach.
func TestMessagesToSharedNumber(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.tickingClock()
		writes, other := p.coach(1), p.coach(4)
		asha := p.add(writes, "Asha Rao", number(2), number(2))
		p.sendRequests(1)
		p.clock.advance(time.Minute)
		p.add(other, "Asha Rao", number(3), number(2))
		p.sendRequests(1)
		p.clock.advance(time.Minute)
		ok(p, second(p.RemindAfter(bg, writes, asha.ID, actor.Guardian, "", time.Time{})))
		reminder, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Reminder), p.db.NewID(), p.clock.Now().Add(time.Minute), 1)
		ok(p, err)
		ok(p, p.db.Outbox.DeliverySent(bg, reminder))
		p.wantNewestSender("before the guardian leaves", message.SMS, writes.AccountID)

		week := func(when string, want string) {
			p.Helper()
			m, err := p.messages(0).Send(bg, writes, conversation.Draft{
				To: conversation.Target{PlayerIDs: []string{asha.ID}}, Audience: conversation.ToStudents, Text: "No training today.", Channels: []conversation.Channel{conversation.SMS},
			})
			ok(p, err)
			p.expand()
			if got := p.recipients(writes, m.ID); got[0] != want {
				p.Errorf("%s: %q, want %q", when, got, want)
			}
		}
		week("first message", "Asha Rao student queued")
		week("second message", "Asha Rao student queued")
		counts := func() int {
			return p.count(`SELECT count(*) FROM message_counts WHERE counter = $1`, "number/"+string(number(2)))
		}
		ok(p, run(p.db, `UPDATE deliveries SET state = 'sent', lease = NULL, account_id = $1, role = 'guardian' WHERE kind = 'team'`, p.as(actor.Guardian, number(2)).AccountID))
		people := &privacy.Service{DB: p.db, RemovePlayer: p.RemoveForErasure, LeavePlayer: p.Leave}
		ok(p, people.Leave(bg, p.as(actor.Guardian, number(2))))
		week("third message", "Asha Rao student left_out weekly_limit")
		p.wantNewestSender("after the guardian left", message.SMS, writes.AccountID)
		if counts() == 0 {
			p.Error("the counts of the number are gone, though the student has it")
		}

		ok(p, people.Leave(bg, p.as(actor.Student, number(2))))
		if n := p.count(`SELECT count(*) FROM deliveries WHERE recipient = $1`, string(number(2))); n != 0 || counts() != 0 {
			p.Errorf("%d deliveries and %d counts are left after the last account of the number", n, counts())
		}
	})
}
