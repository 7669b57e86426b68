package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/notify"
)

// running has time pass between any two looks at the clock.
func (p *pitch) running() {
	now := func() time.Time {
		p.clock.advance(time.Microsecond)
		return p.clock.Now()
	}
	p.db.Now, p.Service.Now = now, now
}

// claimed returns the SMS of requests that are due, which is one.
func (p *pitch) claimed() notify.Delivery {
	p.Helper()
	all, err := p.db.ClaimDeliveries(bg, notify.Request, p.db.NewID(), p.clock.Now().Add(time.Minute), 10)
	if err != nil || len(all) != 1 {
		p.Fatalf("claimed %+v, %v; want one", all, err)
	}
	return all[0]
}

// Whichever way a request went out, the failure of its SMS is told once, and it
// may go again at once.
func TestDeliveryFailed(t *testing.T) {
	correct := func(n int) approval.Patch {
		return approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(n))}}
	}
	ways := map[string]func(p *pitch, coach actor.Actor, id string) error{
		"added": func(*pitch, actor.Actor, string) error { return nil },
		"resent": func(p *pitch, coach actor.Actor, id string) error {
			p.clock.advance(49 * time.Hour)
			return third(p.send(coach, id, actor.Guardian))
		},
		"corrected": func(p *pitch, coach actor.Actor, id string) error {
			return third(p.Send(bg, coach, id, actor.Guardian, correct(4), nil))
		},
		"edited": func(p *pitch, coach actor.Actor, id string) error {
			return second(p.Edit(bg, coach, id, correct(4)))
		},
		"asked again": func(p *pitch, coach actor.Actor, id string) error {
			ok(p, p.decide(p.as(actor.Guardian, number(2)), id, approval.Reject))
			return third(p.send(coach, id, actor.Guardian))
		},
	}
	for name, send := range ways {
		t.Run(name, func(t *testing.T) {
			onPitch(t, func(p *pitch) {
				p.running()
				coach := p.coach(1)
				a := p.add(coach, "Asha Rao", number(2), "")
				if name != "added" {
					ok(p, p.db.DeliverySent(bg, p.claimed()))
				}
				ok(p, send(p, coach, a.ID))
				d := p.claimed()
				for range 2 { // the second has no lease any more
					ok(p, p.db.DeliveryFailed(bg, d, "refused"))
				}
				items, err := p.Pending(bg, coach, approval.Page{Limit: 10})
				ok(p, err)
				if !slices.ContainsFunc(items, func(i approval.PendingItem) bool {
					return i.Party == actor.Guardian && i.Request.ID == d.RequestID && i.BlockedBy() == "delivery_failed"
				}) {
					p.Errorf("after the failure: %+v", items)
				}
				told := 0
				for _, kind := range p.tray(coach.AccountID) {
					if kind == "delivery_failed" {
						told++
					}
				}
				if told != 1 {
					p.Errorf("told %d times", told)
				}
				r, created, err := p.send(coach, a.ID, actor.Guardian)
				ok(p, err)
				if created || r.ID != d.RequestID || r.DeliveryFailed {
					p.Errorf("sent again: %+v, created %t", r, created)
				}
			})
		})
	}
}

// What was sent before says nothing of what was sent since, also where the clock
// stepped back between them.
func TestOldDeliveryFails(t *testing.T) {
	for name, step := range map[string]time.Duration{"on": 49 * time.Hour, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			onPitch(t, func(p *pitch) {
				p.running()
				p.Rules.ResendAfter = -2 * time.Hour // so that the step back allows one, too
				coach := p.coach(1)
				a := p.add(coach, "Asha Rao", number(2), "")
				old := p.claimed()
				p.clock.advance(step)
				_, _, err := p.send(coach, a.ID, actor.Guardian)
				ok(p, err)
				ok(p, p.db.DeliveryFailed(bg, old, "refused"))
				r, err := p.Request(bg, coach, old.RequestID)
				ok(p, err)
				if r.DeliveryFailed || len(p.tray(coach.AccountID)) != 0 {
					p.Errorf("marked by an old failure: %+v", r)
				}
			})
		})
	}
}
