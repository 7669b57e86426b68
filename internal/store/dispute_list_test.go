package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
)

// A party finds every dispute that it may lift, but not the name of a student whose party
// it is no longer.
func TestDisputes(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		var requests []string
		var players []*approval.Player
		for _, name := range []string{"Asha Rao", "Bela Rao", "Chetan Rao"} {
			a := p.add(coach, name, number(2), number(2))
			guardian := p.as(actor.Guardian, number(2))
			_, err := p.Dispute(bg, guardian, a.Party(actor.Guardian).Request.ID, approval.Wording{})
			ok(p, err)
			requests, players = append(requests, a.Party(actor.Guardian).Request.ID), append(players, a)
		}
		guardian, student := p.as(actor.Guardian, number(2)), p.as(actor.Student, number(2))
		at := p.clock.Now()
		p.clock.advance(time.Hour)
		ok(p, p.Remove(bg, coach, players[0].ID))
		_, err := p.Edit(bg, coach, players[1].ID, approval.Patch{
			Guardian: &approval.GuardianPatch{Number: ptr(number(4))}, Student: approval.StudentPatch{FullName: ptr("Bela K. Rao")},
		})
		ok(p, err)

		want := []approval.DisputedRequest{
			{RequestID: requests[2], DisputedAt: at, CoachName: "Coach 1", PlayerID: players[2].ID, StudentName: "Chetan Rao"},
			{RequestID: requests[1], DisputedAt: at, CoachName: "Coach 1"},
			{RequestID: requests[0], DisputedAt: at, CoachName: "Coach 1"},
		}
		got, err := p.Disputes(bg, guardian, approval.Page{Limit: 2})
		ok(p, err)
		more, err := p.Disputes(bg, guardian, approval.Page{Limit: 2, After: approval.Keyset{ID: requests[1]}})
		ok(p, err)
		if diff := cmp.Diff(want, append(got, more...)); diff != "" {
			p.Errorf("disputes (-want +got):\n%s", diff)
		}
		for _, by := range []actor.Actor{student, coach} {
			if got, err := p.Disputes(bg, by, approval.Page{Limit: 2}); err != nil || len(got) != 0 {
				p.Errorf("the %s finds %v, %v", by.Role, got, err)
			}
		}
		for _, id := range requests {
			ok(p, p.Lift(bg, guardian, id))
		}
		if got, err := p.Disputes(bg, guardian, approval.Page{Limit: 2}); err != nil || len(got) != 0 {
			p.Errorf("after lifting: %v, %v", got, err)
		}
	})
}
