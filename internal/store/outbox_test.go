package store_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
)

// tickingClock advances the clock at each reading.
func (p *fixture) tickingClock() {
	p.clock.setHook(func() time.Time {
		p.clock.advance(time.Microsecond)
		return p.clock.stopped()
	})
}

// sms returns the SMS lane of a kind.
func sms(kind message.Kind) message.Lane { return message.Lane{Channel: message.SMS, Kind: kind} }

// claimOneRequest claims the due SMS of requests. It fails the test unless there is one.
func (p *fixture) claimOneRequest() message.Delivery {
	p.Helper()
	all, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.Request), p.db.NewID(), p.clock.Now().Add(time.Minute), 10)
	if err != nil || len(all) != 1 {
		p.Fatalf("claimed %+v, %v; want one delivery", all, err)
	}
	return all[0]
}

// While a gateway is down each attempt moves the time at which a delivery is due. Its
// backlog counts from the first time.
func TestBacklogOfFailingGateway(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		since := func(what string, lane message.Lane, want time.Time) {
			p.Helper()
			queued, oldest, err := p.db.Backlog(bg, lane, 10)
			if err != nil || queued != 1 || !oldest.Equal(want) {
				p.Errorf("%s %s: %d since %s, %v; want 1 since %s", lane.Kind, what, queued, oldest, err, want)
			}
		}
		p.add(p.coach(1), "Asha Rao", number(2), "")
		_, err := p.accounts().OpenChallenge(bg, p.newChallenge(actor.Coach))
		ok(p, err)
		queuedAt := p.clock.stopped()
		for _, kind := range []message.Kind{message.Request, message.OTP} {
			lane := sms(kind)
			since("queued", lane, queuedAt)
			for range 3 {
				now := p.clock.stopped()
				d, err := p.db.Outbox.ClaimDeliveries(bg, lane, p.db.NewID(), now.Add(time.Minute), 1)
				if err != nil || len(d) != 1 {
					p.Fatalf("claimed %+v, %v; want one delivery", d, err)
				}
				since("claimed", lane, queuedAt)
				ok(p, p.db.Outbox.RetryDelivery(bg, d, now.Add(4*time.Second), message.ReasonRetrying))
				since("retried", lane, queuedAt)
				p.clock.advance(5 * time.Second)
			}
			until := p.clock.stopped().Add(time.Hour)
			d, err := p.db.Outbox.ClaimDeliveries(bg, lane, p.db.NewID(), until, 1)
			ok(p, err)
			ok(p, p.db.Outbox.PostponeDelivery(bg, d, until, message.ReasonQuietHours))
			since("postponed", lane, until)
			p.clock.advance(-15 * time.Second)
		}
	})
}

// The permanent failure of a request's SMS notifies the coach once, and the request
// may be sent again at once.
func TestDeliveryFailed(t *testing.T) {
	t.Parallel()
	correct := func(n int) approval.Patch {
		return approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(n))}}
	}
	ways := map[string]func(p *fixture, coach actor.Actor, id string) error{
		"added": func(*fixture, actor.Actor, string) error { return nil },
		"resent": func(p *fixture, coach actor.Actor, id string) error {
			p.clock.advance(49 * time.Hour)
			return third(p.send(coach, id, actor.Guardian))
		},
		"corrected": func(p *fixture, coach actor.Actor, id string) error {
			return third(p.Send(bg, coach, id, actor.Guardian, correct(4), nil))
		},
		"edited": func(p *fixture, coach actor.Actor, id string) error {
			return second(p.Edit(bg, coach, id, correct(4)))
		},
		"asked again": func(p *fixture, coach actor.Actor, id string) error {
			ok(p, p.decide(p.as(actor.Guardian, number(2)), id, approval.Reject))
			return third(p.send(coach, id, actor.Guardian))
		},
	}
	for name, send := range ways {
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(p *fixture) {
				p.tickingClock()
				coach := p.coach(1)
				a := p.add(coach, "Asha Rao", number(2), "")
				if name != "added" {
					ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{p.claimOneRequest()}))
				}
				ok(p, send(p, coach, a.ID))
				d := p.claimOneRequest()
				for range 2 { // the second call no longer holds the lease
					ok(p, p.db.Outbox.DeliveryFailed(bg, []message.Delivery{d}, "refused", ""))
				}
				items, err := p.Pending(bg, coach, approval.Page{Limit: 10})
				ok(p, err)
				if !slices.ContainsFunc(items, func(i approval.PendingItem) bool {
					return i.Party == actor.Guardian && i.Request.ID == d.RequestID && i.BlockedBy() == "delivery_failed"
				}) {
					p.Errorf("pending items after the failure: %+v, want one blocked by delivery_failed", items)
				}
				notified := 0
				for _, kind := range p.tray(coach.AccountID) {
					if kind == "delivery_failed" {
						notified++
					}
				}
				if notified != 1 {
					p.Errorf("%d notifications, want 1", notified)
				}
				r, created, err := p.send(coach, a.ID, actor.Guardian)
				ok(p, err)
				if created || r.ID != d.RequestID || r.DeliveryFailed {
					p.Errorf("sent again: %+v, created = %t; want the same request", r, created)
				}
			})
		})
	}
}

// The failure of an earlier sending does not mark the request, even if the clock stepped
// back between the sendings.
func TestFailureOfEarlierSending(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]time.Duration{"clock advances": 49 * time.Hour, "clock steps back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			eachEngine(t, func(p *fixture) {
				p.tickingClock()
				p.Rules.ResendAfter = -2 * time.Hour // allows a resend after the step back
				coach := p.coach(1)
				a := p.add(coach, "Asha Rao", number(2), "")
				old := p.claimOneRequest()
				p.clock.advance(step)
				_, _, err := p.send(coach, a.ID, actor.Guardian)
				ok(p, err)
				ok(p, p.db.Outbox.DeliveryFailed(bg, []message.Delivery{old}, "refused", ""))
				r, err := p.Request(bg, coach, old.RequestID)
				ok(p, err)
				if r.DeliveryFailed || len(p.tray(coach.AccountID)) != 0 {
					p.Errorf("request %+v with %d notifications, want no failure", r, len(p.tray(coach.AccountID)))
				}
			})
		})
	}
}

// newChallenge returns a challenge request for a role of one number.
func (p *fixture) newChallenge(role actor.Role) auth.ChallengeRequest {
	now := p.clock.Now()
	key := auth.ChallengeKey{Number: number(60), Role: role}
	return auth.ChallengeRequest{
		Challenge:   auth.Challenge{ChallengeKey: key, ID: p.db.NewID(), Code: []byte("sealed"), SentAt: now, EndsAt: now.Add(time.Hour)},
		MaxAttempts: 5, LastSentBefore: now.Add(-time.Minute), Channel: "sms",
	}
}

// claimOTPs claims every OTP that is due.
func (p *fixture) claimOTPs(lease string) []message.Delivery {
	p.Helper()
	claimed, err := p.db.Outbox.ClaimDeliveries(bg, sms(message.OTP), lease, p.clock.Now().Add(time.Minute), 10)
	ok(p, err)
	return claimed
}

// A worker that holds a delivery for longer than its lease loses it to the next claim,
// and its result is ignored.
func TestClaimAfterLeaseEnds(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		_, err := p.accounts().OpenChallenge(bg, p.newChallenge(actor.Coach))
		ok(p, err)
		if p.queued.Load() != 1 {
			p.Errorf("woken %d times, want 1", p.queued.Load())
		}
		first := p.claimOTPs("first")
		if len(first) != 1 || first[0].Attempts != 1 {
			p.Fatalf("claimed %+v, want one delivery with its first attempt", first)
		}
		p.clock.advance(time.Minute - time.Second)
		if claimed := p.claimOTPs("second"); len(claimed) > 0 {
			p.Errorf("claimed %+v before the lease ended", claimed)
		}
		p.clock.advance(time.Second)
		second := p.claimOTPs("second")
		want := first[0]
		want.Lease, want.Attempts, want.TotalAttempts = "second", 2, 2
		if len(second) != 1 || second[0] != want {
			p.Fatalf("claimed %+v after the lease, want %+v", second, want)
		}
		_, err = p.accounts().OpenChallenge(bg, p.newChallenge(actor.Student))
		ok(p, err)
		third := p.claimOTPs("third")
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{first[0], third[0]}))
		if n := p.count(`SELECT count(*) FROM deliveries WHERE state = 'queued' AND lease = 'second'`); n != 1 {
			p.Error("the holder of the ended lease completed the delivery")
		}
		ok(p, p.db.Outbox.DeliverySent(bg, []message.Delivery{second[0]}))
		if n := p.count(`SELECT count(*) FROM deliveries WHERE state = 'sent'`); n != 2 {
			p.Error("the holder of the lease did not complete the delivery")
		}
	})
}

// A resend queues the live challenge, not the new one. A challenge without a channel, and one
// requested too soon, queue nothing.
func TestQueuedChallenge(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		unsent := p.newChallenge(actor.Coach)
		unsent.Channel = ""
		_, err := p.accounts().OpenChallenge(bg, unsent)
		ok(p, err)
		_, err = p.accounts().OpenChallenge(bg, p.newChallenge(actor.Coach))
		if _, soon := errors.AsType[auth.ResendTooSoon](err); !soon {
			p.Errorf("OpenChallenge = %v, want TooSoon", err)
		}
		if claimed := p.claimOTPs("lease"); len(claimed) > 0 {
			p.Errorf("claimed %+v, want nothing", claimed)
		}
		p.clock.advance(2 * time.Minute)
		again := p.newChallenge(actor.Coach)
		again.Challenge.Code = []byte("another")
		_, err = p.accounts().OpenChallenge(bg, again)
		ok(p, err)
		claimed := p.claimOTPs("lease")
		if len(claimed) != 1 || claimed[0].ChallengeID != unsent.Challenge.ID {
			p.Fatalf("claimed %+v, want the first challenge", claimed)
		}
		c, _, live, err := p.accounts().LiveChallenge(bg, claimed[0], 5)
		ok(p, err)
		if !live || string(c.Code) != "sealed" {
			p.Errorf("LiveChallenge = %+v, %t; want the first code", c, live)
		}
	})
}

// A guardian's OTP is queued for any number, but only a number with the role gets it.
func TestQueuedChallengeNeedsRole(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		_, err := p.accounts().OpenChallenge(bg, p.newChallenge(actor.Guardian))
		ok(p, err)
		claimed := p.claimOTPs("lease")
		if len(claimed) != 1 {
			p.Fatalf("claimed %+v, want one delivery", claimed)
		}
		if _, _, live, err := p.accounts().LiveChallenge(bg, claimed[0], 5); live || err != nil {
			p.Errorf("LiveChallenge = %t, %v; want false for a number without the role", live, err)
		}
	})
}

// TestBlockedNumberGetsNoQueuedOTP: an OTP that was queued before wrong codes blocked its number does
// not leave, because it cannot be used.
func TestBlockedNumberGetsNoQueuedOTP(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		request := p.newChallenge(actor.Coach)
		_, err := p.accounts().OpenChallenge(bg, request)
		ok(p, err)
		claimed := p.claimOTPs("a")
		for _, want := range []bool{true, false} {
			if _, _, live, err := p.accounts().LiveChallenge(bg, claimed[0], 5); live != want || err != nil {
				p.Errorf("LiveChallenge = %t, %v; want %t", live, err, want)
			}
			result, err := p.accounts().VerifyOTP(bg, p.attempt(false, 1, request.Challenge.ChallengeKey))
			if err != nil || want && result.BlockUntil.IsZero() {
				p.Fatalf("a wrong code: got %+v, %v", result, err)
			}
		}
	})
}
