package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

func TestStatusHasTheDeliveriesOfBothRequests(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		got, _, err := p.Status(bg, coach, a.ID)
		ok(p, err)
		for _, party := range approval.Parties {
			r := got.Party(party).Request
			whole, err := p.Request(bg, coach, r.ID)
			ok(p, err)
			if len(r.Deliveries) != 2 || !slices.Equal(r.Deliveries, whole.Deliveries) {
				p.Errorf("%s: %v, want %v", party, r.Deliveries, whole.Deliveries)
			}
		}
		lone := p.add(coach, "Kabir Mehta", number(4), "")
		got, _, err = p.Status(bg, coach, lone.ID)
		ok(p, err)
		if got.Party(actor.Student).Request != nil || len(got.Party(actor.Guardian).Request.Deliveries) != 2 {
			p.Errorf("one request alone: %+v", got.Party(actor.Guardian).Request)
		}
	})
}

// A decision and a new request return what they saved, as a later read has it.
func TestChangesReturnTheirDeliveries(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		guardian := p.as(actor.Guardian, number(2))
		saved := func(got *approval.Request) {
			p.Helper()
			want, err := p.Request(bg, coach, got.ID)
			ok(p, err)
			if diff := cmp.Diff(want, got); diff != "" || len(got.Deliveries) != 2 {
				p.Errorf("%d deliveries; read later (-) and returned (+):\n%s", len(got.Deliveries), diff)
			}
		}
		for _, what := range []approval.Trigger{approval.Approve, approval.Revoke} {
			got, _, err := p.Decide(bg, guardian, a.ID, approval.Decision{Action: what})
			ok(p, err)
			for _, party := range approval.Parties {
				r := got.Party(party).Request
				r.FollowedUpAt, r.FollowUpNote = time.Time{}, "" // not loaded with the player
				saved(r)
			}
		}
		p.clock.advance(time.Minute)
		r, created, err := p.Send(bg, coach, a.ID, actor.Guardian, approval.Patch{}, nil)
		ok(p, err)
		if !created {
			p.Error("the request is not new")
		}
		saved(r)
	})
}
