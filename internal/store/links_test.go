package store_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/vault"
)

func TestLinkState(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		guardian := p.as(actor.Guardian, number(2))
		request := a.Party(actor.Guardian).Request.ID
		hash := p.link(request)
		want := approval.LinkState{
			Open: true, RequestID: request, PlayerID: a.ID, Party: actor.Guardian, Number: number(2),
			CoachID: coach.AccountID, CoachName: "Coach 1", StudentName: "Asha Rao", Version: 1, ToNumber: true,
		}
		p.wantLink(hash, want)
		p.wantLink(vault.HashToken("mistyped"), approval.LinkState{})

		// The same number is asked about another child, and as a student, which is another role.
		adultStudent, err := p.Add(bg, coach, adult("Bela Rao", number(2)), mother(number(2)))
		ok(p, err)
		want.OthersOpen = true
		p.wantLink(hash, want)
		p.wantLink(p.link(adultStudent.Party(actor.Student).Request.ID), approval.LinkState{
			Open: true, RequestID: adultStudent.Party(actor.Student).Request.ID, PlayerID: adultStudent.ID, Party: actor.Student, Number: number(2),
			CoachID: coach.AccountID, CoachName: "Coach 1", StudentName: "Bela Rao", Version: 1, Adult: true, ToNumber: true,
		})

		// A link to the number names a batch, as its message does; a link that left by mail does not.
		batch := p.batch(coach, "U12 Evening")
		ok(p, run(p.db, `INSERT INTO batch_players (coach_id, batch_id, player_id, joined_at) VALUES ($1, $2, $3, 1)`, coach.AccountID, batch.ID, a.ID))
		want.BatchName = "U12 Evening"
		p.wantLink(hash, want)
		ok(p, run(p.db, `UPDATE request_links SET to_number = FALSE, address = $2 WHERE hash = $1`, hash, "asha@families.example"))
		ok(p, run(p.db, `UPDATE parties SET email = $2 WHERE role = 'guardian' AND player_id = $1`, a.ID, "asha@families.example"))
		want.BatchName, want.ToNumber = "", false
		p.wantLink(hash, want)

		ok(p, p.decide(guardian, a.ID, approval.Approve))
		p.wantLink(hash, approval.LinkState{})
	})
}

func TestLinkStateOfClosedQuestions(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		for name, closeIt := range map[string]func(a *approval.Player) error{
			"cancelled": func(a *approval.Player) error {
				_, err := p.Cancel(bg, coach, a.Party(actor.Guardian).Request.ID)
				return err
			},
			"corrected": func(a *approval.Player) error {
				_, _, err := p.Send(bg, coach, a.ID, actor.Guardian, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(7))}}, nil)
				return err
			},
			"player removed": func(a *approval.Player) error { return p.Remove(bg, coach, a.ID) },
			"link expired": func(*approval.Player) error {
				p.clock.advance(14 * day)
				return nil
			},
		} {
			a := p.add(coach, name, number(2), "")
			hash := p.link(a.Party(actor.Guardian).Request.ID)
			ok(p, closeIt(a))
			p.wantLink(hash, approval.LinkState{Old: name == "link expired"})
		}
	})
}

// A link of an open request stays old, however long the request is open. The sweep deletes it
// when the request is closed.
func TestSweepKeepsLinksOfOpenRequests(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a, b := p.add(coach, "Asha Rao", number(2), ""), p.add(coach, "Bela Rao", number(3), "")
		open, closed := p.link(a.Party(actor.Guardian).Request.ID), p.link(b.Party(actor.Guardian).Request.ID)
		ok(p, p.decide(p.as(actor.Guardian, number(3)), b.ID, approval.Reject))
		links := func() int { return p.count(`SELECT count(*) FROM request_links`) }
		for range 4 {
			p.clock.advance(45 * day)
			ok(p, second(p.db.Sweep(bg, p.clock.Now())))
			ok(p, second(p.db.Sweep(bg, p.clock.Now())))
			p.wantLink(open, approval.LinkState{Old: true})
			p.wantLink(closed, approval.LinkState{})
			if n := links(); n != 1 {
				p.Fatalf("%d links, want that of the open request", n)
			}
		}
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Reject))
		p.wantLink(open, approval.LinkState{})
		p.clock.advance(31 * day)
		ok(p, second(p.db.Sweep(bg, p.clock.Now())))
		if n := links(); n != 0 {
			p.Errorf("%d links of closed requests", n)
		}
	})
}

// wantLink fails the test unless the link has this state.
func (p *fixture) wantLink(hash []byte, want approval.LinkState) {
	p.Helper()
	got, err := p.Link(bg, hash)
	ok(p, err)
	if diff := cmp.Diff(want, got); diff != "" {
		p.Errorf("link (-want +got):\n%s", diff)
	}
}

// A closed link leads only the party that it asked to the player.
func TestLinkedPlayer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(2))
		p.add(coach, "Bela Rao", number(4), "")
		guardian, student, other := p.as(actor.Guardian, number(2)), p.as(actor.Student, number(2)), p.as(actor.Guardian, number(4))
		hash := p.link(a.Party(actor.Guardian).Request.ID)
		for range 2 { // open, then closed
			id, err := p.LinkedPlayer(bg, guardian, hash)
			ok(p, err)
			if id != a.ID {
				p.Errorf("got player %s, want %s", id, a.ID)
			}
			for _, by := range []actor.Actor{student, other, coach, {}} {
				_, err := p.LinkedPlayer(bg, by, hash)
				p.refused(err, "not_found")
			}
			ok(p, p.decide(guardian, a.ID, approval.Approve))
		}
		_, err := p.LinkedPlayer(bg, guardian, vault.HashToken("mistyped"))
		p.refused(err, "not_found")

		// The coach corrects the number: the former guardian is no longer a party.
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(7))}})
		ok(p, err)
		_, err = p.LinkedPlayer(bg, guardian, hash)
		p.refused(err, "not_found")
		ok(p, p.Remove(bg, coach, a.ID))
		_, err = p.LinkedPlayer(bg, p.as(actor.Guardian, number(7)), p.link(a.Party(actor.Guardian).Request.ID))
		p.refused(err, "not_found")
	})
}

// The holder of a link that left to the asked number disputes without a session, as with
// one, and only an open request.
func TestDisputeByLink(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		request := a.Party(actor.Guardian).Request.ID
		hash := p.link(request)
		p.refused(p.DisputeByLink(bg, vault.HashToken("mistyped"), approval.Wording{}), "not_found")

		ok(p, run(p.db, `UPDATE request_links SET to_number = FALSE`)) // as by mail
		p.refused(p.DisputeByLink(bg, hash, approval.Wording{}), "not_found")
		ok(p, run(p.db, `UPDATE request_links SET to_number = TRUE`))

		var wait sync.WaitGroup
		for range 4 { // a double tap
			wait.Go(func() {
				if err := p.DisputeByLink(bg, hash, approval.Wording{}); err != nil {
					p.Error(err)
				}
			})
		}
		wait.Wait()
		r, err := p.Request(bg, coach, request)
		ok(p, err)
		if r.State != approval.RequestDisputed {
			p.Errorf("the request is %s, want disputed", r.State)
		}
		if got := p.tray(coach.AccountID); !slices.Equal(got, []string{"request_disputed"}) {
			p.Errorf("coach's tray = %q", got)
		}
		_, _, err = p.send(coach, a.ID, actor.Guardian)
		p.refused(err, "contact_disputed")
		p.wantLink(hash, approval.LinkState{})

		decided := p.add(coach, "Bela Rao", number(4), "")
		ok(p, p.decide(p.as(actor.Guardian, number(4)), decided.ID, approval.Approve))
		p.refused(p.DisputeByLink(bg, p.link(decided.Party(actor.Guardian).Request.ID), approval.Wording{}), "no_open_request")
		saved, err := p.Player(bg, coach, decided.ID)
		ok(p, err)
		if state := saved.Party(actor.Guardian).Consent.State; state != approval.Approved {
			p.Errorf("the consent is %s, want approved", state)
		}

		old := p.add(coach, "Chetan Rao", number(5), "")
		p.clock.advance(14 * day)
		p.refused(p.DisputeByLink(bg, p.link(old.Party(actor.Guardian).Request.ID), approval.Wording{}), "not_found")
	})
}
