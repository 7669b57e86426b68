package store_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

// receipts stores receipts of the first attempt of a message.
func (p *fixture) receipts(messageID string, all ...message.Receipt) {
	p.Helper()
	p.receiptsOf(messageID, 1, all...)
}

// receiptsOf stores receipts of an attempt of a message.
func (p *fixture) receiptsOf(messageID string, attempt int, all ...message.Receipt) {
	p.Helper()
	for _, r := range all {
		_, err := p.db.Outbox.StoreReceipt(bg, message.Report{MessageID: messageID, Attempt: attempt, Receipt: r})
		ok(p, err)
	}
}

// wantDelivery checks state and reason of the SMS of a request, whether the request counts
// as failed, and how many failures the coach was told.
func (p *fixture) wantDelivery(coach actor.Actor, d message.Delivery, state, reason string, failed bool, told int) {
	p.Helper()
	r, err := p.Request(bg, coach, d.RequestID)
	ok(p, err)
	i := slices.IndexFunc(r.Deliveries, func(d approval.Delivery) bool { return d.Channel == "sms" })
	if i < 0 || r.Deliveries[i].State != state || r.Deliveries[i].Reason != reason || r.DeliveryFailed != failed {
		p.Errorf("got deliveries %+v, delivery_failed = %t; want %s %q, %t", r.Deliveries, r.DeliveryFailed, state, reason, failed)
	}
	got := 0
	for _, kind := range p.tray(coach.AccountID) {
		if kind == "delivery_failed" {
			got++
		}
	}
	if got != told {
		p.Errorf("%d notifications of a failure, want %d", got, told)
	}
}

// TestStoreReceipt stores receipts repeatedly and out of order.
func TestStoreReceipt(t *testing.T) {
	t.Parallel()
	const delivered, undeliverable, unreachable = message.ReceiptDelivered, message.ReceiptUndeliverable, message.ReceiptUnreachable
	for name, tt := range map[string]struct {
		receipts      []message.Receipt
		state, reason string
		failed        bool
		told          int
	}{
		"delivered":                    {[]message.Receipt{delivered, delivered}, "delivered", "", false, 0},
		"undeliverable":                {[]message.Receipt{undeliverable, undeliverable, unreachable}, "failed", "refused", true, 1},
		"unreachable":                  {[]message.Receipt{unreachable, unreachable}, "failed", "unreachable", false, 0},
		"unreachable, undeliverable":   {[]message.Receipt{unreachable, undeliverable}, "failed", "refused", true, 1},
		"delivered, undeliverable":     {[]message.Receipt{delivered, undeliverable, unreachable}, "delivered", "", false, 0},
		"undeliverable, delivered":     {[]message.Receipt{undeliverable, delivered, undeliverable}, "delivered", "", false, 1},
		"unknown receipt: no change":   {[]message.Receipt{"buffered"}, "sent", "", false, 0},
		"unreachable, later delivered": {[]message.Receipt{unreachable, delivered}, "delivered", "", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(p *fixture) {
				p.tickingClock()
				coach := p.coach(1)
				p.add(coach, "Asha Rao", number(2), "")
				d := p.claimOneRequest()
				ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
				p.receipts(d.ID, tt.receipts...)
				p.wantDelivery(coach, d, tt.state, tt.reason, tt.failed, tt.told)
			})
		})
	}
}

// A receipt may arrive before the worker has stored that the provider accepted the message.
func TestReceiptBeforeTheResult(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]func(p *fixture, d []message.Delivery) error{
		"accepted": func(p *fixture, d []message.Delivery) error { return p.db.Outbox.DeliverySent(bg, d) },
		"refused":  func(p *fixture, d []message.Delivery) error { return p.db.Outbox.DeliveryFailed(bg, d, "refused", "") },
		"timeout": func(p *fixture, d []message.Delivery) error {
			return p.db.Outbox.RetryDelivery(bg, d, p.clock.Now(), message.ReasonRetrying)
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(p *fixture) {
				coach := p.coach(1)
				p.add(coach, "Asha Rao", number(2), "")
				d := p.claimOneRequest()
				p.receipts(d.ID, message.ReceiptUndeliverable)
				ok(p, result(p, []message.Delivery{d}))
				p.wantDelivery(coach, d, "failed", "refused", true, 1)
				p.receipts(d.ID, message.ReceiptDelivered)
				p.wantDelivery(coach, d, "delivered", "", false, 1)
			})
		})
	}
}

// A receipt of an attempt without a response ends the attempts that would follow.
func TestReceiptBetweenAttempts(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		p.add(coach, "Asha Rao", number(2), "")
		d := p.claimOneRequest()
		ok(p, p.db.Outbox.RetryDelivery(bg, []message.Delivery{d}, p.clock.Now(), message.ReasonRetrying))
		p.receipts(d.ID, message.ReceiptUnreachable)
		p.wantDelivery(coach, d, "queued", message.ReasonRetrying, false, 0)
		p.receipts(d.ID, message.ReceiptDelivered)
		p.wantDelivery(coach, d, "delivered", "", false, 0)
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), "lease", p.clock.Now().Add(time.Minute), 1)
		if err != nil || len(claimed) != 0 {
			p.Errorf("claimed %+v, %v; want no delivery", claimed, err)
		}
	})
}

// Receipts change no message that was not sent, was dropped, or does not exist, and no
// other message. A message that an operator sends again is not failed by old receipts.
func TestReceiptsThatChangeNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.tickingClock()
		coach := p.coach(1)
		p.add(coach, "Asha Rao", number(2), "")
		sent := p.claimOneRequest()
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{sent}))
		p.add(coach, "Bela Rao", number(3), "")
		retried := p.claimOneRequest()
		ok(p, p.db.Outbox.DeliveryFailed(bg, []message.Delivery{retried}, message.ReasonRefused, ""))
		_, err := p.db.Outbox.RetryFailed(bg, auditor, retried.ID, message.DeliveryRecord.CheckRetry)
		ok(p, err)
		for _, id := range []string{retried.ID, "no-such-message", ""} {
			p.receipts(id, message.ReceiptUndeliverable, message.ReceiptUnreachable)
		}
		p.wantDelivery(coach, retried, "queued", "", false, 1)
		p.wantDelivery(coach, sent, "sent", "", false, 1)

		ok(p, p.db.Outbox.DeliveryDropped(bg, []message.Delivery{p.claimOneRequest()}, message.ReasonRequestClosed))
		p.receipts(retried.ID, message.ReceiptDelivered, message.ReceiptUndeliverable)
		p.wantDelivery(coach, retried, "failed", message.ReasonRequestClosed, false, 1)
	})
}

// After an operator has sent a message again, failures of its earlier attempts change
// nothing, receipts of the new attempt do.
func TestReceiptOfEarlierAttempt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.tickingClock()
		coach := p.coach(1)
		p.add(coach, "Asha Rao", number(2), "")
		d := p.claimOneRequest()
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
		p.receipts(d.ID, message.ReceiptUnreachable)
		_, err := p.db.Outbox.RetryFailed(bg, auditor, d.ID, message.DeliveryRecord.CheckRetry)
		ok(p, err)
		again := p.claimOneRequest()
		if again.TotalAttempts != 2 || again.Attempts != 1 {
			p.Errorf("attempts %d, in total %d; want 1, 2", again.Attempts, again.TotalAttempts)
		}
		p.receipts(d.ID, message.ReceiptUnreachable, message.ReceiptUndeliverable)
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{again}))
		p.receipts(d.ID, message.ReceiptUnreachable, message.ReceiptUndeliverable)
		p.receiptsOf(d.ID, 3, message.ReceiptUndeliverable)
		p.wantDelivery(coach, d, "sent", "", false, 0)
		p.receiptsOf(d.ID, 2, message.ReceiptUndeliverable)
		p.wantDelivery(coach, d, "failed", "refused", true, 1)
	})
}

// A failure of an earlier sending marks its delivery, not the request.
func TestReceiptOfEarlierSending(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.tickingClock()
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		old := p.claimOneRequest()
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{old}))
		p.clock.advance(49 * time.Hour)
		ok(p, third(p.send(coach, a.ID, actor.Guardian)))
		p.receipts(old.ID, message.ReceiptUndeliverable)
		p.wantDelivery(coach, old, "failed", "refused", false, 0)
	})
}

// A receipt of a message that asks several questions is one of all its deliveries.
func TestReceiptOfGatheredMessage(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.tickingClock()
		coach := p.coach(1)
		for _, name := range []string{"Asha Rao", "Bela Rao", "Chetan Rao"} {
			p.add(coach, name, number(2), "")
		}
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), "lease", p.clock.Now().Add(time.Minute), 10)
		ok(p, err)
		if len(claimed) != 3 {
			p.Fatalf("claimed %d deliveries, want 3", len(claimed))
		}
		_, err = p.db.Outbox.AdmitMessages(bg, outgoing(1, claimed...))
		ok(p, err)
		for _, d := range claimed[:2] {
			ok(p, run(p.db, `UPDATE deliveries SET gathered_by = $1 WHERE id = $2`, claimed[0].ID, d.ID))
		}
		ok(p, p.db.Outbox.DeliverySent(bg, claimed))
		p.receipts(claimed[0].ID, message.ReceiptUndeliverable)
		p.wantDelivery(coach, claimed[0], "failed", "refused", true, 2)
		p.wantDelivery(coach, claimed[1], "failed", "refused", true, 2)
		p.wantDelivery(coach, claimed[2], "sent", "", false, 2)

		// The first question is sent again, alone. Receipts of the old message are about the
		// second one, and receipts of the new message are not.
		_, err = p.db.Outbox.RetryFailed(bg, auditor, claimed[0].ID, message.DeliveryRecord.CheckRetry)
		ok(p, err)
		again := p.claimOneRequest()
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{again}))
		p.receiptsOf(claimed[0].ID, 2, message.ReceiptDelivered)
		p.wantDelivery(coach, claimed[0], "delivered", "", false, 2)
		p.wantDelivery(coach, claimed[1], "failed", "refused", true, 2)
		p.receipts(claimed[0].ID, message.ReceiptDelivered)
		p.wantDelivery(coach, claimed[1], "delivered", "", false, 2)
	})
}

// Concurrent receipts and the worker's result end in one state, and the coach is told once.
func TestConcurrentReceipts(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		p.add(coach, "Asha Rao", number(2), "")
		d := p.claimOneRequest()
		var wait sync.WaitGroup
		for range 4 {
			for _, r := range []message.Receipt{message.ReceiptUndeliverable, message.ReceiptUnreachable} {
				wait.Go(func() {
					if _, err := p.db.Outbox.StoreReceipt(bg, message.Report{MessageID: d.ID, Attempt: 1, Receipt: r}); err != nil {
						p.Errorf("store %s: %v", r, err)
					}
				})
			}
		}
		wait.Go(func() {
			if err := p.db.Outbox.DeliverySent(bg, []message.Delivery{d}); err != nil {
				p.Errorf("store the result: %v", err)
			}
		})
		wait.Wait()
		p.wantDelivery(coach, d, "failed", "refused", true, 1)
	})
}

// The receipt of an OTP has no request.
func TestReceiptOfOTP(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		_, err := p.accounts().OpenChallenge(bg, p.newChallenge(actor.Coach))
		ok(p, err)
		claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.OTP), "lease", p.clock.Now().Add(time.Minute), 1)
		ok(p, err)
		if len(claimed) != 1 {
			p.Fatalf("claimed %d deliveries, want 1", len(claimed))
		}
		p.receipts(claimed[0].ID, message.ReceiptUndeliverable)
		claimed, err = p.db.Outbox.ClaimDeliveries(bg, sms(message.OTP), "lease", p.clock.Now().Add(2*time.Minute), 1)
		if err != nil || len(claimed) != 0 {
			p.Errorf("claimed %+v, %v; want no delivery", claimed, err)
		}
	})
}
