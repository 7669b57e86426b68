package store_test

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
)

func TestStatusHasTheDeliveriesOfBothRequests(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		got, _, err := p.Status(bg, coach, a.ID)
		ok(p, err)
		for _, party := range approval.Parties {
			r := got.Approver(party).Request
			whole, err := p.Request(bg, coach, r.ID)
			ok(p, err)
			if len(r.Deliveries) != 2 || !slices.Equal(r.Deliveries, whole.Deliveries) {
				p.Errorf("%s: %v, want %v", party, r.Deliveries, whole.Deliveries)
			}
		}
		lone := p.add(coach, "Kabir Mehta", number(4), "")
		got, _, err = p.Status(bg, coach, lone.ID)
		ok(p, err)
		if got.StudentApprover.Request != nil || len(got.Approver(actor.Guardian).Request.Deliveries) != 2 {
			p.Errorf("one request alone: %+v", got.GuardianApprover.Request)
		}
		ok(p, p.db.LoadDeliveries(bg))
	})
}
