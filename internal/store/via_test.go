package store_test

import (
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

// TestVia checks that history and requests keep how the party answered, and that a request that is
// open again keeps nothing.
func TestVia(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		guardian := p.as(actor.Guardian, number(2))
		guardian.Via = actor.ViaChat
		r, err := p.Dispute(bg, guardian, a.GuardianApprover.Request.ID, approval.Wording{})
		if ok(p, err); r.Via != actor.ViaChat {
			p.Errorf("disputed via %q", r.Via)
		}
		ok(p, p.Lift(bg, guardian, r.ID))
		if r, err = p.OwnRequest(bg, coach, r.ID); err != nil || r.Via != "" {
			p.Errorf("open again via %q, %v", r.Via, err)
		}
		guardian.Via = actor.ViaVoice
		_, _, err = p.Decide(bg, guardian, a.ID, approval.Decision{Action: approval.Approve})
		ok(p, err)
		guardian.Via = actor.ViaAPI
		saved, history, err := p.Decide(bg, guardian, a.ID, approval.Decision{Action: approval.Revoke})
		ok(p, err)
		if len(history) != 2 || history[0].Via != actor.ViaVoice || history[1].Via != actor.ViaAPI || saved.GuardianApprover.Request.Via != actor.ViaVoice {
			p.Errorf("history %+v, request %+v", history, saved.GuardianApprover.Request)
		}
	})
}
