package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/store/storetest"
)

func TestDispute(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, other := p.coach(1), p.coach(9)
		a := p.add(coach, "Asha Rao", number(2), number(2))
		guardian := p.as(actor.Guardian, number(2))
		r := a.Party(actor.Guardian).Request.ID
		_, err := p.Dispute(bg, coach, r, approval.Wording{})
		p.refused(err, "not_found")
		disputed, err := p.Dispute(bg, guardian, r, approval.Wording{})
		ok(p, err)
		if disputed.State != approval.RequestDisputed {
			p.Errorf("disputed: %+v", disputed)
		}
		_, err = p.Dispute(bg, guardian, r, approval.Wording{})
		p.refused(err, "no_open_request")
		if got := p.tray(coach.AccountID); !slices.Equal(got, []string{"request_disputed"}) {
			p.Errorf("coach's tray = %q", got)
		}
		_, _, err = p.send(coach, a.ID, actor.Guardian)
		p.refused(err, "contact_disputed")

		// Neither a new name nor a change to another number and back ends the dispute.
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Asha K. Rao")}})
		ok(p, err)
		_, _, err = p.send(coach, a.ID, actor.Guardian)
		p.refused(err, "contact_disputed")
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(4))}})
		ok(p, err)
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(2))}})
		p.refused(err, "contact_disputed")

		// The dispute does not apply to the student of that number, another coach, or another child.
		ok(p, p.decide(p.as(actor.Student, number(2)), a.ID, approval.Reject))
		_, _, err = p.send(coach, a.ID, actor.Student)
		ok(p, err)
		p.add(other, "Asha Rao", number(2), "")
		p.add(coach, "Bela Rao", number(2), "")
	})
}

func TestDisputeRemainsAfterRemoval(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		_, err := p.Dispute(bg, p.as(actor.Guardian, number(2)), a.Party(actor.Guardian).Request.ID, approval.Wording{})
		ok(p, err)
		ok(p, p.Remove(bg, coach, a.ID))
		_, err = p.Add(bg, coach, child("asha rao", ""), mother(number(2)))
		p.refused(err, "contact_disputed")
		if n := p.count(`SELECT count(*) FROM players WHERE deleted_at IS NULL`); n != 0 {
			p.Error("the refused player was stored")
		}
		again := p.add(coach, "Asha Rao", number(5), "")
		_, _, err = p.Send(bg, coach, again.ID, actor.Guardian, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(2))}}, nil)
		p.refused(err, "contact_disputed")
	})
}

// A coach cannot change a player's name and birth date to the name and birth date of a child whom the
// guardian disputed, neither before nor after the guardian's decision.
func TestRenameDoesNotBypassDispute(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		_, err := p.Dispute(bg, guardian, a.Party(actor.Guardian).Request.ID, approval.Wording{})
		ok(p, err)
		ok(p, p.Remove(bg, coach, a.ID))

		b := p.add(coach, "Bela Rao", number(2), "")
		rename := func(name string) approval.Patch {
			return approval.Patch{Student: approval.StudentPatch{FullName: &name}}
		}
		edit := func(patch approval.Patch) error { return second(p.Edit(bg, coach, b.ID, patch)) }
		p.refused(edit(rename("Asha Rao")), "contact_disputed")
		p.refused(edit(rename("Asha\u200b Rao")), "contact_disputed")
		ok(p, p.decide(guardian, b.ID, approval.Approve))
		p.refused(edit(rename("Asha Rao")), "contact_disputed")
		after, err := p.Player(bg, coach, b.ID)
		ok(p, err)
		if after.Student.FullName != "Bela Rao" || after.Party(actor.Guardian).Consent.State != approval.Approved {
			p.Errorf("a refused rename changed the player to %+v", after)
		}
		ok(p, edit(approval.Patch{Student: approval.StudentPatch{DateOfBirth: &approval.Date{Year: 2013, Month: 1, Day: 1}}}))
		ok(p, edit(rename("Asha Rao"))) // another birth date, so another child
		p.refused(edit(approval.Patch{Student: approval.StudentPatch{DateOfBirth: &a.Student.DateOfBirth}}), "contact_disputed")

		// With another number the player may be that child. The disputed number cannot be set then.
		patch := approval.Patch{Student: approval.StudentPatch{DateOfBirth: &a.Student.DateOfBirth}, Guardian: &approval.GuardianPatch{Number: ptr(number(4))}}
		ok(p, edit(patch))
		p.refused(edit(approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(2))}}), "contact_disputed")
	})
}

// TestRenameBeforeRemovalDoesNotBypassDispute: a disputed player that was renamed and removed
// cannot be added again to the same number, neither under its old name nor under its new one,
// until the party lifts the dispute.
func TestRenameBeforeRemovalDoesNotBypassDispute(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		guardian, r := p.as(actor.Guardian, number(2)), a.Party(actor.Guardian).Request.ID
		_, err := p.Dispute(bg, guardian, r, approval.Wording{})
		ok(p, err)
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Asha K. Rao")}})
		ok(p, err)
		ok(p, p.Remove(bg, coach, a.ID))
		for _, name := range []string{"Asha Rao", "Asha K. Rao"} {
			_, err = p.Add(bg, coach, child(name, ""), mother(number(2)))
			p.refused(err, "contact_disputed")
		}

		// A player without an open request can get the name, but the number gets no message.
		b := p.add(coach, "Bela Rao", number(2), "")
		_, err = p.Cancel(bg, coach, b.Party(actor.Guardian).Request.ID)
		ok(p, err)
		_, err = p.Edit(bg, coach, b.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Asha K. Rao")}})
		ok(p, err)
		m, err := p.messages(0).Send(bg, coach, conversation.Draft{To: conversation.Target{All: true}, Audience: conversation.ToGuardians, Text: "Hello", Channels: []conversation.Channel{conversation.SMS}})
		ok(p, err)
		p.expand()
		if got := p.recipients(coach, m.ID); !slices.Equal(got, []string{"Asha K. Rao guardian left_out disputed"}) {
			p.Errorf("recipients: got %q", got)
		}
		_, _, err = p.send(coach, b.ID, actor.Guardian)
		p.refused(err, "contact_disputed")

		// Lifting the dispute about another record of the student lifts this one too.
		c := p.add(coach, "Chetan Rao", number(2), "")
		_, err = p.Dispute(bg, guardian, c.Party(actor.Guardian).Request.ID, approval.Wording{})
		ok(p, err)
		ok(p, p.Remove(bg, coach, b.ID))
		p.clock.advance(time.Minute)
		_, err = p.Edit(bg, coach, c.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Asha K. Rao")}})
		ok(p, err)
		ok(p, p.Lift(bg, guardian, c.Party(actor.Guardian).Request.ID))
		_, _, err = p.send(coach, c.ID, actor.Guardian)
		ok(p, err)
	})
}

// TestDisputeRemainsAfterErasure: a coach cannot ask the same number about the same child again after both were erased, neither under
// its old name nor under its new one. The next account of the number can lift the dispute.
func TestDisputeRemainsAfterErasure(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, other := p.coach(1), p.coach(9)
		a := p.add(coach, "Asha Rao", number(2), number(2))
		r, erased := a.Party(actor.Guardian).Request.ID, p.as(actor.Guardian, number(2))
		_, err := p.Dispute(bg, erased, r, approval.Wording{})
		ok(p, err)
		_, err = p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Asha K. Rao")}})
		ok(p, err)
		people := &privacy.Service{DB: p.db, RemovePlayer: p.RemoveForErasure}
		ok(p, people.ErasePlayer(bg, a.ID, nil))
		left := p.rows()
		for _, value := range []string{"Asha", "asha", "2014-05-06", string(number(2))} {
			if at := strings.Index(left, value); at >= 0 {
				p.Errorf("%s is left: %.300s", value, left[max(0, at-150):])
			}
		}
		for _, name := range []string{"Asha Rao", "asha k. rao"} {
			_, err = p.Add(bg, coach, child(name, ""), mother(number(2)))
			p.refused(err, "contact_disputed")
		}
		again := p.add(coach, "Asha Rao", number(5), "")
		_, err = p.Edit(bg, coach, again.ID, approval.Patch{Guardian: &approval.GuardianPatch{Number: ptr(number(2))}})
		p.refused(err, "contact_disputed")
		p.add(coach, "Bela Rao", number(2), "")
		p.add(other, "Asha Rao", number(2), "")
		_, err = p.Add(bg, coach, child("Asha K. Rao", ""), mother(number(2)))
		p.refused(err, "contact_disputed")

		guardian := p.as(actor.Guardian, number(2))
		list, err := p.Disputes(bg, guardian, approval.Page{Limit: 10})
		ok(p, err)
		if len(list) != 1 || list[0].RequestID != r || list[0].StudentName != "" {
			p.Errorf("disputes of the next account: %+v", list)
		}
		p.refused(p.Lift(bg, erased, r), "not_found") // the session of the erased account
		ok(p, p.Lift(bg, guardian, r))
		if got := p.tray(coach.AccountID); got[len(got)-1] != "dispute_lifted" {
			p.Errorf("coach's notifications: %q", got)
		}
		p.add(coach, "Asha K. Rao", number(2), "")
	})
}

// TestLiftAfterRemoval: the party can lift its dispute after the coach removed the
// player; no other account can.
func TestLiftAfterRemoval(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		guardian, r := p.as(actor.Guardian, number(2)), a.Party(actor.Guardian).Request.ID
		_, err := p.Dispute(bg, guardian, r, approval.Wording{})
		ok(p, err)
		p.add(coach, "Kabir Rao", number(3), "")
		other := p.as(actor.Guardian, number(3))
		ok(p, p.Remove(bg, coach, a.ID))
		p.refused(p.Lift(bg, coach, r), "not_found")
		p.refused(p.Lift(bg, other, r), "not_found")
		for range 2 { // the client may retry after a lost response
			ok(p, p.Lift(bg, guardian, r))
		}
		if got := p.tray(coach.AccountID); !slices.Equal(got, []string{"request_disputed", "dispute_lifted"}) {
			p.Errorf("coach's notifications: got %q", got)
		}
		p.add(coach, "Asha Rao", number(2), "")
	})
}

// TestOldFormKeepsLaterDispute: a form that showed the first dispute of a request does not end the
// second one, also after the coach removed the player.
func TestOldFormKeepsLaterDispute(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), "")
		guardian, r := p.as(actor.Guardian, number(2)), a.Party(actor.Guardian).Request.ID
		dispute := func() time.Time {
			p.Helper()
			_, err := p.Dispute(bg, guardian, r, approval.Wording{})
			ok(p, err)
			at := p.clock.Now()
			p.clock.advance(time.Minute)
			return at
		}
		first := dispute()
		ok(p, p.LiftShown(bg, guardian, r, first))
		ok(p, p.LiftShown(bg, guardian, r, first)) // a double tap
		again := dispute()
		p.refused(p.LiftShown(bg, guardian, r, first), "request_superseded")
		p.refused(p.LiftShown(bg, guardian, r, time.Time{}), "request_superseded")
		p.refused(p.LiftShown(bg, coach, r, again), "not_found")
		_, _, err := p.send(coach, a.ID, actor.Guardian)
		p.refused(err, "contact_disputed")
		ok(p, p.Remove(bg, coach, a.ID))
		p.refused(p.LiftShown(bg, guardian, r, first), "request_superseded")
		if n := p.count(`SELECT count(*) FROM disputes`); n != 1 {
			p.Errorf("%d disputes, want 1", n)
		}
		ok(p, p.LiftShown(bg, guardian, r, again))
		if n := p.count(`SELECT count(*) FROM disputes`); n != 0 {
			p.Errorf("%d disputes, want none", n)
		}
	})
}

// TestLift: lifting a dispute within 30 days opens the request again, unless the coach
// changed the student meanwhile. Otherwise the coach is notified.
func TestLift(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		lift := func(n int, between func(*approval.Player)) (*approval.Player, *approval.Request) {
			p.Helper()
			a := p.add(coach, fmt.Sprint("Asha Rao ", n), number(n), "")
			guardian, r := p.as(actor.Guardian, number(n)), a.Party(actor.Guardian).Request.ID
			_, err := p.Dispute(bg, guardian, r, approval.Wording{})
			ok(p, err)
			p.refused(p.Lift(bg, coach, r), "not_found")
			between(a)
			ok(p, p.Lift(bg, guardian, r))
			ok(p, p.Lift(bg, guardian, r))
			got, err := p.Request(bg, guardian, r)
			ok(p, err)
			return a, got
		}
		a, got := lift(2, func(*approval.Player) { p.clock.advance(30 * day) })
		if got.State != approval.RequestPending || !got.ClosedAt.IsZero() {
			p.Errorf("lifted after 30 days: got %+v, want an open request", got)
		}
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
		if got := p.tray(coach.AccountID); !slices.Equal(got, []string{"request_disputed", "guardian_approved"}) {
			p.Errorf("coach's notifications: got %q", got)
		}
		a, got = lift(3, func(*approval.Player) { p.clock.advance(30*day + time.Second) })
		if got.State != approval.RequestCancelled {
			p.Errorf("lifted after more than 30 days: got %+v, want a cancelled request", got)
		}
		if got := p.tray(coach.AccountID); got[len(got)-1] != "dispute_lifted" {
			p.Errorf("coach's notifications: got %q, want dispute_lifted at the end", got)
		}
		_, created, err := p.send(coach, a.ID, actor.Guardian)
		ok(p, err)
		if !created {
			p.Error("the next request is not new")
		}
		_, got = lift(4, func(a *approval.Player) {
			p.clock.advance(time.Minute)
			_, err := p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{FullName: ptr("Bela Rao")}})
			ok(p, err)
		})
		if got.State != approval.RequestCancelled {
			p.Errorf("lifted after the student was renamed: got %+v, want a cancelled request", got)
		}
	})
}
