package store_test

import (
	"context"
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store"
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
		r, err := p.Dispute(bg, guardian, a.Party(actor.Guardian).Request.ID, approval.Wording{})
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
		if len(history) != 2 || history[0].Via != actor.ViaVoice || history[1].Via != actor.ViaAPI || saved.Party(actor.Guardian).Request.Via != actor.ViaVoice {
			p.Errorf("history %+v, request %+v", history, saved.Party(actor.Guardian).Request)
		}
	})
}

// TestWordingOfDispute: the record of a dispute has what the recipient read; without it, and by the API, the
// notification that asked.
func TestWordingOfDispute(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		var got []approval.Wording
		p.Hooks.ConsentChanged = func(_ context.Context, _ *store.Tx, changes []approval.ConsentChange) error {
			for _, c := range changes {
				if c.Kind == approval.ConsentDisputed {
					got = append(got, c.Wording)
				}
			}
			return nil
		}
		p.NoticeHash = func(language string) string { return "notice in " + language }
		guardian, student := p.as(actor.Guardian, number(2)), p.as(actor.Student, number(3))
		read := p.WordingOf("hi", "सवाल")
		guardian.Via, student.Via = actor.ViaPage, actor.ViaAPI
		_, err := p.Dispute(bg, guardian, a.Party(actor.Guardian).Request.ID, read)
		ok(p, err)
		_, err = p.Dispute(bg, student, a.Party(actor.Student).Request.ID, approval.Wording{})
		ok(p, err)
		want := []approval.Wording{read, p.WordingOf("en", "Your profile is ready\nCoach Coach 1 added you, Asha Rao. Say yes to use all features, or say no.")}
		for i := range want {
			want[i].Version, want[i].CoachName, want[i].StudentName = 1, "Coach 1", "Asha Rao"
		}
		if !slices.Equal(got, want) || read.NoticeHash != "notice in hi" {
			p.Errorf("got %+v, want %+v", got, want)
		}
	})
}
