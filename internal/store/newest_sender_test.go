package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

// The newest sender to a number is the coach whose SMS left last, else the only coach.
func TestNewestSender(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.tickingClock()
		want := func(n int, coachID string) {
			p.Helper()
			got, err := p.db.Outbox.NewestSender(bg, number(n), message.SMS, time.Time{})
			if err != nil || got != coachID {
				p.Errorf("newest sender to number %d: %q, %v; want %q", n, got, err, coachID)
			}
		}
		first, second := p.coach(1), p.coach(4)
		p.add(first, "Asha Rao", number(2), "")
		want(2, first.AccountID) // nothing was sent
		sent := p.claimOneRequest()
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{sent}))
		want(2, first.AccountID)
		p.clock.advance(time.Minute)
		p.add(second, "Asha Rao", number(2), "")
		p.add(first, "Bela Rao", number(6), "")
		p.add(second, "Bela Rao", number(6), "")
		want(6, "") // nothing was sent, and there are two
		p.change(`DELETE FROM deliveries WHERE recipient = $1`, string(number(6)))
		failed := p.claimOneRequest()
		want(2, first.AccountID)
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{failed}))
		want(2, second.AccountID)
		ok(p, run(p.db, `INSERT INTO deliveries (id, kind, channel, state, recipient, role, coach_id, attempts, due_at, gives_up_at, created_at, updated_at)
			VALUES ('team', 'team', 'sms', 'sent', $1, 'guardian', $2, 1, 0, 0, $3, $3)`, string(number(2)), first.AccountID, p.clock.Now().Add(time.Hour).UnixMicro()))
		want(2, first.AccountID)
		want(3, "")
		p.wantNewestSender("no message left by WhatsApp", message.Chat, first.AccountID)
	})
}

// wantNewestSender checks which coach a STOP of number 2 stops.
func (p *fixture) wantNewestSender(when string, channel message.Channel, coachID string) {
	p.Helper()
	p.wantNewestSenderUntil(when, channel, time.Time{}, coachID)
}

// wantNewestSenderUntil is wantNewestSender for a STOP that was sent by a time.
func (p *fixture) wantNewestSenderUntil(when string, channel message.Channel, until time.Time, coachID string) {
	p.Helper()
	got, err := p.db.Outbox.NewestSender(bg, number(2), channel, until)
	if err != nil || got != coachID {
		p.Errorf("%s: newest sender %q, %v; want %q", when, got, err, coachID)
	}
}

// TestNewestSenderOfHeldMessage: a message that waited is as new as its sending. A limit holds the
// reminder of one coach, another coach asks an hour later, and the reminder leaves a day later.
func TestNewestSenderOfHeldMessage(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		held, other := p.coach(1), p.coach(4)
		a := p.add(held, "Asha Rao", number(2), "")
		p.sendRequests(1)
		p.clock.advance(time.Hour)
		ok(p, second(p.RemindAfter(bg, held, a.ID, actor.Guardian, "", time.Time{})))
		remind := func() []message.Outgoing {
			claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Reminder), p.db.NewID(), p.clock.Now().Add(time.Minute), 1)
			ok(p, err)
			if len(claimed) != 1 {
				p.Fatalf("claimed %+v, want the reminder", claimed)
			}
			admitted, err := p.db.Outbox.AdmitMessages(bg, outgoing(1, claimed...))
			ok(p, err)
			return admitted
		}
		if admitted := remind(); len(admitted) != 0 {
			p.Fatalf("admitted %+v, want the reminder to wait", admitted)
		}
		p.clock.advance(time.Hour)
		p.add(other, "Asha Rao", number(2), "")
		p.sendRequests(1)
		p.wantNewestSender("while the reminder waits", message.SMS, other.AccountID)
		p.clock.advance(day - time.Hour)
		for _, m := range remind() {
			ok(p, p.db.Outbox.DeliverySent(bg, m.Deliveries))
		}
		p.wantNewestSender("after the reminder has left", message.SMS, held.AccountID)
	}, limited(message.Limits{PerNumberFromCoach: 1}))
}

// TestNewestSenderOfRemoval: an SMS that a coach removed the player is a message of this coach. A
// STOP to it must not stop the coach who asked before.
func TestNewestSenderOfRemoval(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		removes, asks := p.coach(1), p.coach(4)
		a := p.add(removes, "Asha Rao", number(2), "")
		p.sendRequests(1)
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		p.clock.advance(time.Minute)
		p.add(asks, "Asha Rao", number(2), "")
		p.sendRequests(1)
		p.wantNewestSender("before the removal", message.SMS, asks.AccountID)
		p.clock.advance(time.Minute)
		ok(p, p.Remove(bg, removes, a.ID))
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.NotificationCopy), p.db.NewID(), p.clock.Now().Add(time.Minute), 1)
		ok(p, err)
		p.wantNewestSender("before the SMS about the removal left", message.SMS, asks.AccountID)
		ok(p, p.db.Outbox.DeliverySent(bg, claimed))
		p.wantNewestSender("after the SMS about the removal left", message.SMS, removes.AccountID)
	})
}

// TestNewestSenderOfClosure: after the SMS that a coach closed the account there is no coach to
// stop. A STOP to it must not stop the coach who asked before.
func TestNewestSenderOfClosure(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		leaves, asks := p.coach(1), p.coach(4)
		a := p.add(leaves, "Asha Rao", number(2), "")
		p.sendRequests(1)
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		p.clock.advance(time.Minute)
		p.add(asks, "Asha Rao", number(2), "")
		p.sendRequests(1)
		p.clock.advance(time.Minute)
		p.closeAccount(leaves)
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.NotificationCopy), p.db.NewID(), p.clock.Now().Add(time.Minute), 1)
		ok(p, err)
		p.wantNewestSender("before the SMS about the closure left", message.SMS, asks.AccountID)
		ok(p, p.db.Outbox.DeliverySent(bg, claimed))
		p.wantNewestSender("after the SMS about the closure left", message.SMS, "")
		p.clock.advance(time.Minute)
		p.add(asks, "Bela Rao", number(2), "")
		p.sendRequests(1)
		p.wantNewestSender("after the next request", message.SMS, asks.AccountID)
	})
}

// TestNewestSenderAtATime: a STOP that arrives late stops the coach whose message was the newest when
// the person wrote it. A receipt that arrives later does not change when a message left.
func TestNewestSenderAtATime(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		first, next, leaves := p.coach(1), p.coach(4), p.coach(5)
		begin := p.clock.Now()
		minute := func(m int) time.Time { return begin.Add(time.Duration(m) * time.Minute) }
		request := func(by actor.Actor, name string) message.Delivery {
			p.add(by, name, number(2), "")
			d := p.claimOneRequest()
			ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
			return d
		}
		p.clock.advance(time.Minute)
		a := p.add(leaves, "Chetan Rao", number(2), "")
		p.sendRequests(1)
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		p.clock.advance(9 * time.Minute)
		d := request(first, "Asha Rao") // at minute 10
		p.clock.advance(10 * time.Minute)
		request(next, "Bela Rao") // at minute 20
		p.wantNewestSenderUntil("between the messages", message.SMS, minute(15), first.AccountID)
		p.wantNewestSenderUntil("when the second left", message.SMS, minute(20), next.AccountID)
		p.wantNewestSenderUntil("in the future", message.SMS, minute(9999), next.AccountID)
		p.wantNewestSenderUntil("a wrong time before any message", message.SMS, minute(0), next.AccountID)

		p.clock.advance(10 * time.Minute)
		ok(p, second(p.db.Outbox.StoreReceipt(bg, message.Report{MessageID: d.ID, Attempt: 1, Receipt: message.ReceiptDelivered})))
		p.wantNewestSenderUntil("before a late receipt", message.SMS, minute(15), first.AccountID)
		p.wantNewestSenderUntil("before a late receipt", message.SMS, minute(25), next.AccountID)
		p.wantNewestSenderUntil("after a late receipt", message.SMS, minute(30), first.AccountID)

		p.clock.advance(10 * time.Minute)
		p.closeAccount(leaves)
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.NotificationCopy), p.db.NewID(), p.clock.Now().Add(time.Minute), 1)
		ok(p, err)
		ok(p, p.db.Outbox.DeliverySent(bg, claimed))
		p.clock.advance(10 * time.Minute)
		request(next, "Deepa Rao")
		p.wantNewestSenderUntil("after the closure", message.SMS, minute(45), "")
		p.wantNewestSenderUntil("at the end", message.SMS, time.Time{}, next.AccountID)
	})
}

// TestNewestSenderOfFailedMessage: a message whose attempt failed, or that the provider reported as
// failed, may have reached the person. A STOP is for its coach if no other message left.
func TestNewestSenderOfFailedMessage(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*fixture, message.Delivery) error{
		"retried": func(p *fixture, d message.Delivery) error {
			return p.db.Outbox.RetryDelivery(bg, []message.Delivery{d}, p.clock.Now().Add(day), message.ReasonRetrying)
		},
		"given up": func(p *fixture, d message.Delivery) error {
			return p.db.Outbox.DeliveryFailed(bg, []message.Delivery{d}, message.ReasonGaveUp, "")
		},
		"reported": func(p *fixture, d message.Delivery) error {
			ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
			return second(p.db.Outbox.StoreReceipt(bg, message.Report{MessageID: d.ID, Attempt: 1, Receipt: message.ReceiptUndeliverable}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(p *fixture) {
				by, other := p.coach(1), p.coach(4)
				p.add(by, "Asha Rao", number(2), "")
				d := p.claimOneRequest()
				ok(p, fail(p, d))
				p.wantNewestSender("after it failed", message.SMS, by.AccountID)
				p.wantNewestSender("on another channel", message.Chat, by.AccountID)
				p.clock.advance(time.Minute)
				p.add(other, "Bela Rao", number(2), "")
				dropped := p.claimOneRequest()
				ok(p, p.db.Outbox.DeliveryDropped(bg, []message.Delivery{dropped}, message.ReasonStopped))
				p.wantNewestSender("after a message was dropped", message.SMS, by.AccountID)
				p.add(other, "Chetan Rao", number(2), "")
				p.sendRequests(1)
				p.wantNewestSender("after another message left", message.SMS, other.AccountID)
			})
		})
	}
}

// TestNewestSenderOfUnfinishedAttempt: a worker may die after the provider accepted a message. A STOP to it
// must not be lost: after the lease the message would leave again.
func TestNewestSenderOfUnfinishedAttempt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, other := p.coach(1), p.coach(4)
		p.add(by, "Asha Rao", number(2), "")
		p.add(other, "Asha Rao", number(2), "")
		p.change(`UPDATE deliveries SET due_at = due_at + 86400000000 WHERE coach_id = $1 AND recipient = $2`, other.AccountID, string(number(2)))
		p.wantNewestSender("before the first attempt", message.SMS, "")
		d := p.claimOneRequest()
		p.wantNewestSender("before the attempt ended", message.SMS, by.AccountID)
		p.wantNewestSender("on another channel", message.Chat, by.AccountID)
		p.clock.advance(time.Hour)
		p.wantNewestSender("after the lease", message.SMS, by.AccountID)
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
		p.clock.advance(time.Hour)
		p.add(other, "Bela Rao", number(2), "")
		p.claimOneRequest()
		p.wantNewestSender("while another message leaves", message.SMS, by.AccountID)
	})
}

// TestNewestSenderAwaitsStatus: a message that the provider accepted counts before its status is
// known, and after it moved to SMS because no status came. A message that left by WhatsApp alone
// comes first.
func TestNewestSenderAwaitsStatus(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		p.add(by, "Asha Rao", number(2), "")
		d := p.claimOn(message.Chat, true)
		ok(p, p.db.Outbox.AwaitStatus(bg, []message.Delivery{d}, p.clock.Now().Add(time.Minute)))
		p.wantNewestSender("before its status is known", message.Chat, by.AccountID)
		left := p.clock.Now()
		p.clock.advance(2 * time.Minute)
		ok(p, p.db.Outbox.FallBack(bg, []message.Delivery{p.claimOn(message.Chat, true)}, message.SMS))
		p.wantNewestSender("after it moved", message.Chat, by.AccountID)
		p.wantNewestSender("before it left by SMS", message.SMS, by.AccountID)
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{p.claimOn(message.SMS, true)}))
		p.wantNewestSender("after it left by SMS", message.Chat, by.AccountID)
		p.wantNewestSender("after it left by SMS", message.SMS, by.AccountID)
		other := p.coach(4)
		p.clock.advance(time.Minute)
		p.add(other, "Asha Rao", number(2), "")
		ok(p, p.db.Outbox.AwaitStatus(bg, []message.Delivery{p.claimOn(message.Chat, true)}, p.clock.Now().Add(time.Minute)))
		p.wantNewestSender("after another coach wrote by WhatsApp", message.Chat, other.AccountID)
		p.wantNewestSenderUntil("before another coach wrote by WhatsApp", message.Chat, left, by.AccountID)
		p.wantNewestSender("after another coach wrote by WhatsApp", message.SMS, by.AccountID) // whose SMS is the newest
	}, byWhatsApp)
}

// TestNewestSenderElsewhere: a STOP by SMS counts for the coach whose messages all left by WhatsApp, as of the time at which the
// person wrote it. The SMS that a coach closed the account stays the newest message.
func TestNewestSenderElsewhere(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by, other := p.coach(1), p.coach(4)
		ask := func(coach actor.Actor, name string) *approval.Player {
			a := p.add(coach, name, number(2), "")
			ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{p.claimOn(message.Chat, true)}))
			return a
		}
		ask(by, "Asha Rao")
		wrote := p.clock.Now()
		p.clock.advance(time.Hour)
		a := ask(other, "Bela Rao")
		p.wantNewestSender("by SMS", message.SMS, other.AccountID)
		p.wantNewestSenderUntil("by SMS, an hour late", message.SMS, wrote, by.AccountID)
		p.wantNewestSenderUntil("by SMS, before the first message", message.SMS, wrote.Add(-day), other.AccountID)
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		p.clock.advance(time.Hour)
		p.closeAccount(other)
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.NotificationCopy), p.db.NewID(), p.clock.Now().Add(time.Minute), 1)
		ok(p, err)
		ok(p, p.db.Outbox.DeliverySent(bg, claimed))
		p.wantNewestSender("after the closure", message.SMS, "")
	}, byWhatsApp)
}

// TestQuotedSender: a reply that quotes a request or a message of a coach is about this coach, whatever came later.
func TestQuotedSender(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		asks, writes := p.coach(1), p.coach(4)
		p.add(asks, "Asha Rao", number(2), "")
		d := p.claimOn(message.Chat, true)
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
		ok(p, p.db.Outbox.SaveProviderID(bg, d.ID, "wamid.request"))
		ok(p, run(p.db, `INSERT INTO deliveries (id, kind, channel, state, recipient, role, coach_id, provider_id, attempts, due_at, gives_up_at, created_at, updated_at)
			VALUES ('team', 'team', 'chat', 'sent', $1, 'guardian', $2, 'wamid.team', 1, 0, 0, 0, 0)`, string(number(2)), writes.AccountID))
		for _, tt := range []struct {
			number int
			id     string
			want   string
		}{
			{2, "wamid.request", asks.AccountID},
			{2, "wamid.team", writes.AccountID},
			{2, "wamid.unknown", ""},
			{3, "wamid.request", ""}, // sent to another number
		} {
			got, err := p.db.Outbox.QuotedSender(bg, number(tt.number), tt.id)
			if err != nil || got != tt.want {
				p.Errorf("%s to number %d: %q, %v; want %q", tt.id, tt.number, got, err, tt.want)
			}
		}
	}, byWhatsApp)
}
