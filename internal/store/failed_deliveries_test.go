package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/vault"
)

// failOneRequest claims the due SMS of a request and lets it fail with reason.
func (p *fixture) failOneRequest(reason string) message.Delivery {
	p.Helper()
	d := p.claimOneRequest()
	ok(p, p.db.Outbox.DeliveryFailed(bg, []message.Delivery{d}, reason, ""))
	return d
}

// TestFailedDeliveries checks the order of the list, its pages, and that it has no dropped
// messages.
func TestFailedDeliveries(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.tickingClock()
		one, two := p.coach(1), p.coach(2)
		p.add(one, "Asha Rao", number(11), "")
		first := p.failOneRequest(message.ReasonGaveUp)
		p.add(two, "Bela Rao", number(12), "")
		second := p.failOneRequest(message.ReasonRefused)
		p.add(one, "Chetan Rao", "+15005550006", "") // blocked, so it failed before an attempt
		for i, dropped := range []string{message.ReasonRequestClosed, message.ReasonNotWanted, message.ReasonStopped, message.ReasonDisputed, message.ReasonContactChanged, message.ReasonPlayerRemoved} {
			p.add(one, fmt.Sprintf("Divya %d", i), number(20+i), "")
			ok(p, p.db.Outbox.DeliveryDropped(bg, []message.Delivery{p.claimOneRequest()}, dropped))
		}
		p.add(one, "Esha Rao", number(15), "")
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{p.claimOneRequest()}))

		read := func(coachID string, limit int) (all []message.DeliveryRecord) {
			p.Helper()
			search := message.FailedDeliverySearch{CoachID: coachID}
			for {
				page, err := p.db.Outbox.FailedDeliveries(bg, auditor, search, limit)
				ok(p, err)
				all = append(all, page...)
				if len(page) < limit {
					return all
				}
				search.After = message.FailedDeliveryCursor{At: page[limit-1].UpdatedAt, ID: page[limit-1].ID}
			}
		}
		all := read("", 1)
		if len(all) != 3 || all[1].ID != second.ID || all[2].ID != first.ID {
			p.Fatalf("got %+v, want the blocked message, %s and %s", all, second.ID, first.ID)
		}
		if d := all[0]; d.Reason != message.ReasonDestinationBlocked || d.Attempts != 0 || d.CanRetry() {
			p.Errorf("blocked message: got %+v, want no retry", d)
		}
		if d := all[1]; d.Reason != message.ReasonRefused || d.Attempts != 1 || d.CoachID != two.AccountID || d.RequestID != second.RequestID || d.Kind != message.Request || !d.CanRetry() {
			p.Errorf("refused message: got %+v", d)
		}
		if of := read(one.AccountID, 5); len(of) != 2 || of[1].ID != first.ID {
			p.Errorf("got %+v for one coach, want 2", of)
		}
	})
}

// TestRetryFailed checks that one of several concurrent retries queues the message, that the coach
// sees it queued, and that a second failure is reported again.
func TestRetryFailed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		p.tickingClock()
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		d := p.failOneRequest(message.ReasonGaveUp)
		request := a.Party(actor.Guardian).Request.ID
		p.clock.advance(40 * day) // the link has ended, and a sweep of an earlier release has deleted it
		ok(p, run(p.db, `DELETE FROM request_links`))
		link := p.link(request)
		desk := actor.Operator{ID: "token", Name: "desk"}
		admin := p.db.Outbox
		retried := 0
		for i, err := range concurrently(10, func(int) error {
			_, err := admin.RetryFailed(bg, desk, d.ID, message.DeliveryRecord.CheckRetry)
			return err
		}) {
			switch code := fault.CodeOf(err); {
			case err == nil:
				retried++
			case code != "invalid_transition":
				p.Errorf("retry %d: %v", i, err)
			}
		}
		if retried != 1 {
			p.Errorf("%d of 10 concurrent retries succeeded, want 1", retried)
		}
		if got := p.deliveries(coach, request); !slices.Equal(got, []string{"in_app delivered", "sms queued"}) {
			p.Errorf("deliveries = %q", got)
		}
		if r, err := p.Request(bg, coach, request); err != nil || r.DeliveryFailed {
			p.Errorf("got the request %+v, %v, want no failed delivery", r, err)
		}
		again := p.claimOneRequest()
		ok(p, p.RenewLinks(bg, []message.Delivery{again}))
		if p.count(`SELECT count(*) FROM request_links WHERE hash = $1 AND ends_at > $2`, link, p.clock.Now().Add(13*day).UnixMicro()) != 1 {
			p.Error("the link is not valid for 14 days from the retry")
		}
		if again.ID != d.ID || again.Attempts != 1 || !again.GivesUpAt.After(p.clock.Now().Add(23*time.Hour)) {
			p.Errorf("claimed %+v, want the same delivery with all attempts", again)
		}
		ok(p, p.db.Outbox.DeliveryFailed(bg, []message.Delivery{again}, message.ReasonRefused, ""))
		if got := p.tray(coach.AccountID); !slices.Equal(got, []string{"delivery_failed", "delivery_failed"}) {
			p.Errorf("coach's tray = %q, want both failures", got)
		}
		log, err := p.db.Operators.Audit(bg, auditor, d.ID, "", 10)
		if ok(p, err); len(log) != 1 || log[0].Action != operator.DeliveryRetried || log[0].By != desk {
			p.Errorf("got the audit log %+v, want one retry", log)
		}
	})
}

// TestRetryIsRefused checks that a message is not sent again if its request is closed or
// was sent again since, if it was dropped or sent, or if it is an OTP.
func TestRetryIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(p *fixture, coach actor.Actor, a *approval.Player) (deliveryID string)
		want    string
	}{
		"sent again": {func(p *fixture, coach actor.Actor, a *approval.Player) string {
			d := p.failOneRequest(message.ReasonRefused)
			ok(p, third(p.send(coach, a.ID, actor.Guardian)))
			return d.ID
		}, "request_superseded"},
		"request closed": {func(p *fixture, coach actor.Actor, a *approval.Player) string {
			d := p.failOneRequest(message.ReasonRefused)
			ok(p, second(p.Cancel(bg, coach, a.Party(actor.Guardian).Request.ID)))
			return d.ID
		}, "request_superseded"},
		"dropped": {func(p *fixture, _ actor.Actor, _ *approval.Player) string {
			d := p.claimOneRequest()
			ok(p, p.db.Outbox.DeliveryDropped(bg, []message.Delivery{d}, message.ReasonNotWanted))
			return d.ID
		}, "invalid_transition"},
		"sent": {func(p *fixture, _ actor.Actor, _ *approval.Player) string {
			d := p.claimOneRequest()
			ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{d}))
			return d.ID
		}, "invalid_transition"},
		"queued": {func(p *fixture, _ actor.Actor, _ *approval.Player) string { return p.claimOneRequest().ID }, "invalid_transition"},
		"OTP": {func(p *fixture, _ actor.Actor, _ *approval.Player) string {
			_, err := p.accounts().OpenChallenge(bg, p.newChallenge(actor.Coach))
			ok(p, err)
			d := p.claimOTPs("lease")[0]
			ok(p, p.db.Outbox.DeliveryFailed(bg, []message.Delivery{d}, message.ReasonRefused, ""))
			return d.ID
		}, "invalid_transition"},
		"unknown": {func(*fixture, actor.Actor, *approval.Player) string { return "unknown" }, "not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(p *fixture) {
				p.tickingClock()
				coach := p.coach(1)
				a := p.add(coach, "Asha Rao", number(2), "")
				id := tt.prepare(p, coach, a)
				before := p.count(`SELECT count(*) FROM deliveries WHERE state = 'queued'`)
				admin := p.db.Outbox
				_, err := admin.RetryFailed(bg, auditor, id, message.DeliveryRecord.CheckRetry)
				p.refused(err, tt.want)
				if after := p.count(`SELECT count(*) FROM deliveries WHERE state = 'queued'`); after != before {
					p.Errorf("%d queued deliveries after the refusal, %d before", after, before)
				}
			})
		})
	}
}

// TestRetryToFormerAddress: a failed mail to an address that the coach has corrected is not sent
// again, so its link stays dead and its failure stays marked.
func TestRetryToFormerAddress(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		a, err := p.Add(bg, by, child("Asha Rao", ""), motherWithMail(number(2)))
		ok(p, err)
		mails := p.claimMail(message.Request)
		ok(p, p.db.Outbox.DeliveryFailed(bg, mails, message.ReasonRefused, message.CauseUnknownAddress))
		_, err = p.Edit(bg, by, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Email: ptr("new@families.example")}})
		ok(p, err)
		_, err = p.db.Outbox.RetryFailed(bg, testOperator, mails[0].ID, message.DeliveryRecord.CheckRetry)
		p.refused(err, "request_superseded")
		request := a.Party(actor.Guardian).Request.ID
		p.wantLink(vault.HashToken(p.vault.LinkToken(mails[0].ID)), approval.LinkState{})
		if marked := p.count(`SELECT count(*) FROM requests WHERE id = $1 AND failed_channels = 'email,'`, request); marked != 1 {
			p.Errorf("%d marks of the failure, want 1", marked)
		}
	})
}
