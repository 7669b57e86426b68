package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

// byWhatsApp makes requests leave by WhatsApp first, then by SMS.
func byWhatsApp(s *settings) {
	s.Rules.First = map[message.Lane]message.Channel{sms(message.Request): message.Chat}
	s.Outbox.Fallbacks = map[message.Channel]message.Channel{message.Chat: message.SMS}
}

// claimOn claims the only due request of a channel, or none.
func (p *fixture) claimOn(channel message.Channel, want bool) (d message.Delivery) {
	p.Helper()
	all, err := p.db.Outbox.ClaimDeliveries(bg, message.Lane{Channel: channel, Kind: message.Request}, p.db.NewID(), p.clock.Now().Add(time.Minute), 10)
	ok(p, err)
	if (len(all) == 1) != want {
		p.Fatalf("claimed %+v on %s, want one: %t", all, channel, want)
	}
	if want {
		d = all[0]
	}
	return d
}

// deliveryOf returns the channel, state and reason of the message of a request.
func (p *fixture) deliveryOf(coach actor.Actor, requestID string) (got string) {
	p.Helper()
	r, err := p.Request(bg, coach, requestID)
	ok(p, err)
	for _, d := range r.Deliveries {
		if d.Channel != "in_app" {
			got += string(d.Channel) + " " + d.State + " " + d.Reason
		}
	}
	return got
}

// TestFallback: a request leaves by WhatsApp, and by SMS if no status comes or it failed.
func TestFallback(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.tickingClock()
		coach := p.coach(1)
		want := func(d message.Delivery, want string) {
			p.Helper()
			if got := p.deliveryOf(coach, d.RequestID); got != want {
				p.Errorf("the delivery is %q, want %q", got, want)
			}
		}
		accept := func(n int) message.Delivery {
			p.Helper()
			p.add(coach, "Child "+strings.Repeat("x", n), number(n), "")
			p.claimOn(message.SMS, false)
			d := p.claimOn(message.Chat, true)
			ok(p, p.db.Outbox.AwaitStatus(bg, []message.Delivery{d}, p.clock.Now().Add(30*time.Second)))
			want(d, "chat queued awaiting_status")
			p.claimOn(message.Chat, false)
			return d
		}

		late := accept(2)
		p.clock.advance(31 * time.Second)
		again := p.claimOn(message.Chat, true)
		if !again.AwaitsStatus {
			p.Error("the claimed delivery does not await a status")
		}
		ok(p, p.db.Outbox.FallBack(bg, []message.Delivery{again}, message.SMS))
		want(late, "sms queued retrying")
		p.receipts(late.ID, message.ReceiptSent, message.ReceiptUndeliverable) // too late: the SMS leaves
		bySMS := p.claimOn(message.SMS, true)
		if bySMS.Attempts != 1 || bySMS.TotalAttempts != 3 || bySMS.AwaitsStatus {
			p.Errorf("claimed %+v, want the first attempt by SMS, the third in total", bySMS)
		}
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{bySMS}))
		p.receipts(late.ID, message.ReceiptSent, message.ReceiptUndeliverable)
		want(late, "sms sent ")
		p.receipts(late.ID, message.ReceiptDelivered) // the phone is on again and gets both
		want(late, "sms delivered ")

		failed := accept(3)
		p.receipts(failed.ID, message.ReceiptUndeliverable)
		want(failed, "sms queued retrying")
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{p.claimOn(message.SMS, true)}))

		sent := accept(4)
		p.receipts(sent.ID, message.ReceiptSent, message.ReceiptSent)
		want(sent, "chat sent ")
		p.clock.advance(time.Minute)
		p.claimOn(message.Chat, false)
		p.receipts(sent.ID, message.ReceiptUndeliverable, message.ReceiptUndeliverable)
		want(sent, "sms queued retrying")
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{p.claimOn(message.SMS, true)}))

		// The status is faster than the worker.
		p.add(coach, "Asha Rao", number(5), "")
		fast := p.claimOn(message.Chat, true)
		p.receipts(fast.ID, message.ReceiptSent)
		ok(p, p.db.Outbox.AwaitStatus(bg, []message.Delivery{fast}, p.clock.Now()))
		want(fast, "chat sent ")

		for _, kind := range p.tray(coach.AccountID) {
			if kind == "delivery_failed" {
				p.Error("the coach was told of a failure that an SMS follows")
			}
		}
		// The last one fails by WhatsApp, without an SMS after it.
		p.add(coach, "Isha Rao", number(6), "")
		ok(p, p.db.Outbox.DeliveryFailed(bg, []message.Delivery{p.claimOn(message.Chat, true)}, message.ReasonRefused, message.CauseNoWhatsApp))
		p.wantFailedOn(coach, "[chat]")
	}, byWhatsApp)
}

// wantFailedOn checks the channels of the only request of a coach that failed, on the dashboard
// and among the needs.
func (p *fixture) wantFailedOn(by actor.Actor, want string) {
	p.Helper()
	board, err := p.coaches().Dashboard(bg, by.AccountID, p.clock.Now())
	ok(p, err)
	needs, err := p.coaches().Needs(bg, by.AccountID, coach.NeedQuery{Kind: coach.NeedFailed, Limit: 2}, p.clock.Now())
	ok(p, err)
	if len(board.Attention) != 1 || fmt.Sprint(board.Attention[0].Channels) != want {
		p.Errorf("the dashboard has %+v, want a request that failed on %s", board.Attention, want)
	}
	if len(needs.Items) != 1 || fmt.Sprint(needs.Items[0].Channels) != want {
		p.Errorf("the needs are %+v, want a request that failed on %s", needs.Items, want)
	}
}
