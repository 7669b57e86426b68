package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/phone"
)

// turnAdults runs the steps that are due on n replicas at once.
func (p *fixture) turnAdults(n int) {
	p.Helper()
	for _, err := range concurrently(n, func(int) error { _, err := p.TurnAdults(bg, 100); return err }) {
		ok(p, err)
	}
}

// told returns the notifications of a party about the 18th birthday, and how many SMS its number gets about it.
func (p *fixture) told(by actor.Actor) (types []string, sms int) {
	p.Helper()
	for _, t := range p.tray(by.AccountID) {
		if strings.HasPrefix(t, "turn") {
			types = append(types, t)
		}
	}
	return types, p.count(`
		SELECT count(*) FROM deliveries d JOIN notifications n ON n.id = d.notification_id
		WHERE d.recipient = $1 AND d.channel = 'sms' AND n.type IN ('turning_18_soon', 'turned_18')`, string(by.Number))
}

// born is the birth date of students who become adults on 20 April 2026; the fixture starts on 2 March.
var born = approval.Date{Year: 2008, Month: 4, Day: 20}

// addBorn adds a student who becomes an adult.
func (p *fixture) addBorn(by actor.Actor, name string, guardian, student phone.Number, born approval.Date) *approval.Player {
	p.Helper()
	added, err := p.Add(bg, by, approval.Student{FullName: name, DateOfBirth: born, Number: student}, mother(guardian))
	ok(p, err)
	return added
}

func (p *fixture) at(text string) {
	p.Helper()
	t, err := time.Parse(time.RFC3339, text)
	ok(p, err)
	p.clock.advance(t.Sub(p.clock.Now()))
}

// TestTurning18: both parties are told 30 days before and on the 18th birthday, in the morning of the
// coach's day, once whatever the number of replicas. A guardian's approval from before ends 30 days later.
func TestTurning18(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		ok(p, run(p.db, `UPDATE coaches SET time_zone = 'America/New_York' WHERE id = $1`, coach.AccountID))
		a := p.addBorn(coach, "Asha Rao", number(2), number(3), born)
		guardian, student := p.as(actor.Guardian, number(2)), p.as(actor.Student, number(3))
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		want := func(when string, soon, turned int) {
			p.Helper()
			p.turnAdults(6)
			for _, by := range []actor.Actor{guardian, student} {
				types, sms := p.told(by)
				if n := slices.Index(append(types, "turned_18"), "turned_18"); n != soon || len(types)-n != turned || sms != soon+turned {
					p.Errorf("%s the %s has %v and %d SMS, want %d and %d", when, by.Role, types, sms, soon, turned)
				}
			}
			if types, _ := p.told(coach); len(types) != turned {
				p.Errorf("%s the coach has %v", when, types)
			}
		}
		p.at("2026-03-21T12:59:00Z") // 08:59 in New York
		want("before the first day", 0, 0)
		p.at("2026-03-21T14:00:00Z")
		want("30 days before", 1, 0)
		p.at("2026-04-20T12:59:00Z")
		want("before the birthday", 1, 0)
		p.at("2026-04-20T14:00:00Z")
		want("on the birthday", 1, 1)
		p.at("2026-05-20T13:00:00Z")
		want("within 30 days", 1, 1)
		if on, err := p.Availability(bg, guardian, a.ID); err != nil || !on.GuardianApp {
			p.Errorf("within 30 days: %+v, %v", on, err)
		}
		p.at("2026-05-20T14:01:00Z")
		want("after 30 days", 1, 1)
		if on, err := p.Availability(bg, guardian, a.ID); err != nil || on.GuardianApp {
			p.Errorf("after 30 days: %+v, %v", on, err)
		}
		got, err := p.Player(bg, coach, a.ID)
		ok(p, err)
		if c := got.Party(actor.Guardian).Consent; c.State != approval.Pending || c.PendingReason != approval.PendingAdult || got.Party(actor.Guardian).OpenRequest() != nil {
			p.Errorf("guardian after 30 days: %+v", c)
		}
		if n := p.count(`SELECT count(*) FROM changes WHERE player_id = $1 AND type = 'pending' AND party = 'guardian'`, a.ID); n != 2 {
			p.Errorf("%d changes of the guardian to pending, want 2", n)
		}
		if n := p.count(`SELECT count(*) FROM players WHERE adult_step IS NOT NULL`); n != 0 {
			p.Errorf("%d players have a next step", n)
		}
	})
}

// TestTurning18Answers: the student's yes keeps the guardian's, and a yes of the guardian after
// the birthday stays.
func TestTurning18Answers(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		both, late := p.addBorn(coach, "Asha Rao", number(2), number(3), born), p.addBorn(coach, "Bela Rao", number(2), number(4), born)
		guardian := p.as(actor.Guardian, number(2))
		ok(p, p.decide(guardian, both.ID, approval.Approve))
		p.at("2026-05-01T00:00:00Z")
		p.turnAdults(1)
		ok(p, p.decide(p.as(actor.Student, number(3)), both.ID, approval.Approve))
		ok(p, p.decide(guardian, late.ID, approval.Approve))
		for range 3 {
			p.clock.advance(31 * day)
			p.turnAdults(2)
		}
		for _, a := range []*approval.Player{both, late} {
			if on, err := p.Availability(bg, guardian, a.ID); err != nil || !on.GuardianApp {
				p.Errorf("%s: %+v, %v", a.Student.FullName, on, err)
			}
		}
	})
}

// TestTurning18OncePerPhone: a phone of both parties, and one whose child has two coaches, gets one SMS of
// each kind; siblings get one each. A number that never answered learns no date.
func TestTurning18OncePerPhone(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		for n := range 2 {
			coach := p.coach(1 + 10*n)
			for _, name := range []string{"Asha Rao", "Bela Rao"} {
				a := p.addBorn(coach, name, number(2), number(2), born)
				ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
			}
		}
		p.at("2026-03-22T10:00:00Z")
		p.turnAdults(6)
		p.at("2026-04-20T10:00:00Z")
		p.turnAdults(6)
		for _, role := range approval.Parties {
			types, sms := p.told(p.as(role, number(2)))
			if len(types) != 8 || sms != 4 {
				p.Errorf("%s: %d notifications and %d SMS, want 8 and 4 for two siblings", role, len(types), sms)
			}
		}
		if n := p.count(`SELECT count(*) FROM notifications WHERE type = 'turning_18_soon' AND account_id = $1 AND replace(body, '20', '') <> body`, p.as(actor.Student, number(2)).AccountID); n != 0 {
			p.Errorf("%d notifications name the birthday to a student without an answer", n)
		}
	})
}

// TestTurning18Corrected: after a corrected birth date both are told of the right one, and an adult is
// told nothing. A removed player, a rejected guardian and a disputed number are told nothing.
func TestTurning18Corrected(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.addBorn(coach, "Asha Rao", number(2), number(3), born)
		guardian, student := p.as(actor.Guardian, number(2)), p.as(actor.Student, number(3))
		approve := func() {
			p.Helper()
			ok(p, p.decide(guardian, a.ID, approval.Approve))
			ok(p, p.decide(student, a.ID, approval.Approve))
		}
		correct := func(d approval.Date) {
			p.Helper()
			_, err := p.Edit(bg, coach, a.ID, approval.Patch{Student: approval.StudentPatch{DateOfBirth: &d}})
			ok(p, err)
		}
		want := func(when string, types ...string) {
			p.Helper()
			p.turnAdults(3)
			for _, by := range []actor.Actor{guardian, student} {
				if got, sms := p.told(by); !slices.Equal(got, types) || sms != len(types) {
					p.Errorf("%s the %s was told %v with %d SMS, want %v", when, by.Role, got, sms, types)
				}
			}
		}
		approve()
		p.at("2026-03-21T10:00:00Z")
		want("30 days before", "turning_18_soon")
		correct(approval.Date{Year: 2008, Month: 6, Day: 20})
		approve()
		p.at("2026-04-21T10:00:00Z")
		want("on the wrong day", "turning_18_soon")
		p.at("2026-05-21T10:00:00Z")
		want("30 days before the right day", "turning_18_soon", "turning_18_soon")
		correct(approval.Date{Year: 2008, Month: 5, Day: 1}) // an adult already
		approve()
		p.at("2026-08-01T10:00:00Z")
		want("after the birthday of an adult", "turning_18_soon", "turning_18_soon")
		if on, err := p.Availability(bg, guardian, a.ID); err != nil || !on.GuardianApp {
			p.Errorf("the guardian of an adult: %+v, %v", on, err)
		}

		next := approval.Date{Year: 2008, Month: 10, Day: 1}
		b := p.addBorn(coach, "Bela Rao", number(12), number(13), next)
		c := p.addBorn(coach, "Chand Rao", number(22), number(23), next)
		ok(p, p.decide(p.as(actor.Guardian, number(12)), b.ID, approval.Approve))
		ok(p, p.decide(p.as(actor.Guardian, number(22)), c.ID, approval.Reject))
		_, err := p.Dispute(bg, p.as(actor.Student, number(23)), c.Party(actor.Student).Request.ID, approval.Wording{})
		ok(p, err)
		silent := []actor.Actor{p.as(actor.Guardian, number(12)), p.as(actor.Student, number(13)), p.as(actor.Guardian, number(22)), p.as(actor.Student, number(23))}
		ok(p, p.Remove(bg, coach, b.ID))
		p.at("2026-10-02T10:00:00Z")
		p.turnAdults(3)
		for i, by := range silent {
			if types, sms := p.told(by); len(types)+sms > 0 {
				p.Errorf("party %d was told %v with %d SMS", i, types, sms)
			}
		}
	})
}

// TestTurning18Late: after an outage the parties are told of the birthday alone, and the guardian's
// approval lasts another 30 days.
func TestTurning18Late(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		b := p.addBorn(coach, "Bela Rao", number(2), number(3), born)
		guardian := p.as(actor.Guardian, number(2))
		ok(p, p.decide(guardian, b.ID, approval.Approve))
		p.at("2026-07-01T10:00:00Z")
		for range 3 {
			p.turnAdults(3)
		}
		if types, sms := p.told(guardian); !slices.Equal(types, []string{"turned_18"}) || sms != 1 {
			p.Errorf("told %v with %d SMS", types, sms)
		}
		if on, err := p.Availability(bg, guardian, b.ID); err != nil || !on.GuardianApp {
			p.Errorf("at once: %+v, %v", on, err)
		}
		p.clock.advance(30 * day)
		p.turnAdults(3)
		if on, err := p.Availability(bg, guardian, b.ID); err != nil || on.GuardianApp {
			p.Errorf("30 days later: %+v, %v", on, err)
		}
	})
}

// TestEndGuardianView: an adult student who has answered removes the guardian, who no longer sees the player.
func TestEndGuardianView(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.addBorn(coach, "Asha Rao", number(2), number(3), born)
		guardian, student := p.as(actor.Guardian, number(2)), p.as(actor.Student, number(3))
		ok(p, p.decide(guardian, a.ID, approval.Approve))
		_, err := p.EndGuardianView(bg, student, a.ID, "")
		p.refused(err, "role_not_allowed")
		p.at("2026-04-20T00:00:00Z")
		_, err = p.EndGuardianView(bg, student, a.ID, "")
		p.refused(err, "approval_pending")
		ok(p, p.decide(student, a.ID, approval.Approve))
		for _, by := range []actor.Actor{guardian, coach} {
			_, err = p.EndGuardianView(bg, by, a.ID, "")
			p.refused(err, "not_found")
		}
		for _, err := range concurrently(4, func(int) error { _, err := p.EndGuardianView(bg, student, a.ID, ""); return err }) {
			ok(p, err)
		}
		_, err = p.Player(bg, guardian, a.ID)
		p.refused(err, "not_found")
		if got, err := p.Player(bg, coach, a.ID); err != nil || got.Guardian() != nil || got.Party(actor.Student).Consent.State != approval.Approved {
			p.Errorf("got %+v, %v", got, err)
		}
		if got := p.tray(guardian.AccountID); !slices.Equal(got, []string{"player_removed"}) {
			p.Errorf("guardian: %v", got)
		}
		if got := p.tray(coach.AccountID); strings.Count(strings.Join(got, " "), "guardian_view_ended") != 1 {
			p.Errorf("coach: %v", got)
		}
		before := len(p.tray(student.AccountID))
		_, _, err = p.AddGuardian(bg, coach, a.ID, *mother(number(2)))
		ok(p, err)
		if got := p.tray(student.AccountID); len(got) != before+1 || !slices.Contains(got, "guardian_added") {
			p.Errorf("the student is told %v of the guardian whom the coach adds again", got)
		}
	})
}
