package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store"
)

// byWhatsApp makes requests leave by WhatsApp first, then by SMS.
func byWhatsApp(s *store.Settings) {
	s.First = map[notify.Lane]notify.Channel{sms(notify.Request): notify.WhatsApp}
	s.Fallbacks = map[notify.Channel]notify.Channel{notify.WhatsApp: notify.SMS}
}

// claimOn claims the only due request of a channel, or none.
func (p *fixture) claimOn(channel notify.Channel, want bool) (d notify.Delivery) {
	p.Helper()
	all, err := p.db.ClaimDeliveries(bg, notify.Lane{Channel: channel, Kind: notify.Request}, p.db.NewID(), p.clock.Now().Add(time.Minute), 10)
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
		want := func(d notify.Delivery, want string) {
			p.Helper()
			if got := p.deliveryOf(coach, d.RequestID); got != want {
				p.Errorf("the delivery is %q, want %q", got, want)
			}
		}
		accept := func(n int) notify.Delivery {
			p.Helper()
			p.add(coach, "Child "+strings.Repeat("x", n), number(n), "")
			p.claimOn(notify.SMS, false)
			d := p.claimOn(notify.WhatsApp, true)
			ok(p, p.db.AwaitStatus(bg, []notify.Delivery{d}, p.clock.Now().Add(30*time.Second)))
			want(d, "whatsapp queued awaiting_status")
			p.claimOn(notify.WhatsApp, false)
			return d
		}

		late := accept(2)
		p.clock.advance(31 * time.Second)
		again := p.claimOn(notify.WhatsApp, true)
		if !again.AwaitsStatus {
			p.Error("the claimed delivery does not await a status")
		}
		ok(p, p.db.FallBack(bg, []notify.Delivery{again}, notify.SMS))
		want(late, "sms queued retrying")
		p.receipts(late.ID, notify.ReceiptSent, notify.ReceiptUndeliverable) // too late: the SMS leaves
		bySMS := p.claimOn(notify.SMS, true)
		if bySMS.Attempts != 1 || bySMS.TotalAttempts != 3 || bySMS.AwaitsStatus {
			p.Errorf("claimed %+v, want the first attempt by SMS, the third in total", bySMS)
		}
		ok(p, p.db.DeliverySent(bg, []notify.Delivery{bySMS}))
		p.receipts(late.ID, notify.ReceiptSent, notify.ReceiptUndeliverable)
		want(late, "sms sent ")
		p.receipts(late.ID, notify.ReceiptDelivered) // the phone is on again and gets both
		want(late, "sms delivered ")

		failed := accept(3)
		p.receipts(failed.ID, notify.ReceiptUndeliverable)
		want(failed, "sms queued retrying")
		ok(p, p.db.DeliverySent(bg, []notify.Delivery{p.claimOn(notify.SMS, true)}))

		sent := accept(4)
		p.receipts(sent.ID, notify.ReceiptSent, notify.ReceiptSent)
		want(sent, "whatsapp sent ")
		p.clock.advance(time.Minute)
		p.claimOn(notify.WhatsApp, false)
		p.receipts(sent.ID, notify.ReceiptUndeliverable, notify.ReceiptUndeliverable)
		want(sent, "sms queued retrying")
		ok(p, p.db.DeliverySent(bg, []notify.Delivery{p.claimOn(notify.SMS, true)}))

		// The status is faster than the worker.
		p.add(coach, "Asha Rao", number(5), "")
		fast := p.claimOn(notify.WhatsApp, true)
		p.receipts(fast.ID, notify.ReceiptSent)
		ok(p, p.db.AwaitStatus(bg, []notify.Delivery{fast}, p.clock.Now()))
		want(fast, "whatsapp sent ")

		for _, kind := range p.tray(coach.AccountID) {
			if kind == "delivery_failed" {
				p.Error("the coach was told of a failure that an SMS follows")
			}
		}
		// The last one fails by WhatsApp, without an SMS after it.
		p.add(coach, "Isha Rao", number(6), "")
		ok(p, p.db.DeliveryFailed(bg, []notify.Delivery{p.claimOn(notify.WhatsApp, true)}, notify.ReasonRefused, notify.CauseNoWhatsApp))
		p.wantFailedOn(coach, "[whatsapp]")
	}, byWhatsApp)
}

// wantFailedOn checks the channels of the only request of a coach that failed, on the dashboard
// and among the needs.
func (p *fixture) wantFailedOn(by actor.Actor, want string) {
	p.Helper()
	board, err := p.db.Dashboard(bg, by.AccountID, p.clock.Now())
	ok(p, err)
	needs, err := p.db.Needs(bg, by.AccountID, coach.NeedQuery{Kind: coach.NeedFailed, Limit: 2}, p.clock.Now())
	ok(p, err)
	if len(board.Attention) != 1 || fmt.Sprint(board.Attention[0].Channels) != want {
		p.Errorf("the dashboard has %+v, want a request that failed on %s", board.Attention, want)
	}
	if len(needs.Items) != 1 || fmt.Sprint(needs.Items[0].Channels) != want {
		p.Errorf("the needs are %+v, want a request that failed on %s", needs.Items, want)
	}
}
