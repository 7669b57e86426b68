package store_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/verification"
)

func (p *fixture) profiles() *coach.Service {
	return &coach.Service{Store: p.coaches(), Now: p.clock.Now}
}

func (p *fixture) storedProfile(by actor.Actor) coach.Profile {
	p.Helper()
	v, err := p.coaches().Profile(bg, by.AccountID)
	ok(p, err)
	return v
}

// edit changes the name of a coach as the coach does.
func (p *fixture) edit(by actor.Actor, name string) error {
	_, err := p.profiles().Edit(bg, by, coach.Patch{Name: &name})
	return err
}

// names runs every statement on names for TestPlans.
func (p *fixture) names() {
	p.Helper()
	by := p.coach(9190)
	ok(p, p.edit(by, "Delhi Public School"))
	queue, err := p.verify().Names(bg, auditor, verification.Cursor{}, 5)
	ok(p, err)
	_, err = p.verify().ReadName(bg, testOperator, by.AccountID)
	ok(p, err)
	ok(p, p.verify().ConfirmName(bg, testOperator, queue[0].CoachID, verification.SeenName{Name: queue[0].NewName()}))
	ok(p, p.edit(p.verifiedCoach(9191, "Arjun Mehta"), "Mehta Arjun"))
	_, err = p.profiles().TakeDueNames(bg, 10)
	ok(p, err)
}

// verifiedCoach returns a coach of this name whose identity an operator has verified.
func (p *fixture) verifiedCoach(n int, name string) actor.Actor {
	p.Helper()
	by := p.coach(n)
	ok(p, run(p.db, `UPDATE coaches SET name = $2 WHERE id = $1`, by.AccountID, name))
	_, s, err := p.verify().Submit(bg, by, name, []string{p.identity(by, "identity")})
	ok(p, err)
	_, err = p.verify().Approve(bg, testOperator, s.ID)
	ok(p, err)
	return by
}

// TestNameWaits: a name that families do not know takes effect after 7 days, once, on any number of replicas. The
// approved parties are told at the start.
func TestNameWaits(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		ok(p, run(p.db, `UPDATE coaches SET name = 'Meera Nair' WHERE id = $1`, by.AccountID))
		player := p.add(by, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		ok(p, p.decide(guardian, player.ID, approval.Approve))
		ok(p, p.edit(by, "Delhi Public School"))
		v := p.storedProfile(by)
		if v.Name != "Meera Nair" || v.NamePending != "Delhi Public School" || !v.NameTakesEffectAt.Equal(p.clock.Now().Add(7*24*time.Hour)) {
			p.Fatalf("after the wish: %q, %q, %s", v.Name, v.NamePending, v.NameTakesEffectAt)
		}
		if got := p.tray(guardian.AccountID); got[len(got)-1] != "coach_renaming" {
			p.Errorf("guardian: %q", got)
		}
		take := func() {
			var wait sync.WaitGroup
			for range 5 {
				wait.Go(func() { _, err := p.profiles().TakeDueNames(bg, 10); ok(p, err) })
			}
			wait.Wait()
		}
		p.clock.advance(7*24*time.Hour - time.Second)
		take()
		if v := p.storedProfile(by); v.Name != "Meera Nair" {
			p.Errorf("before its time: %q", v.Name)
		}
		p.clock.advance(time.Second)
		take()
		take()
		if v := p.storedProfile(by); v.Name != "Delhi Public School" || v.NamePending != "" {
			p.Errorf("after 7 days: %q, %q", v.Name, v.NamePending)
		}
		got := p.tray(guardian.AccountID)
		if n := len(slices.DeleteFunc(slices.Clone(got), func(kind string) bool { return kind != "coach_renamed" })); n != 1 || got[len(got)-1] != "coach_renamed" {
			p.Errorf("guardian: %q, want coach_renamed once, at the end", got)
		}

		// A wish can be taken back, and refused.
		ok(p, p.edit(by, "Quick Loans"))
		_, err := p.profiles().Edit(bg, by, coach.Patch{CancelName: true})
		ok(p, err)
		ok(p, p.edit(by, "Fast Loans"))
		p.refused(p.verify().RefuseName(bg, testOperator, by.AccountID, "Quick Loans", "no"), "request_superseded")
		ok(p, p.verify().RefuseName(bg, testOperator, by.AccountID, "Fast Loans", "Families do not know you by this name."))
		if v := p.storedProfile(by); v.Name != "Delhi Public School" || v.NamePending != "" {
			p.Errorf("after the refusal: %q, %q", v.Name, v.NamePending)
		}
		if got := p.tray(by.AccountID); got[len(got)-1] != "name_refused" {
			p.Errorf("coach: %q", got)
		}
		p.refused(p.edit(by, "Other Loans"), "name_limit") // the fourth that families would be told of
		if n := p.count(`SELECT count(*) FROM audit_log WHERE action = $1`, operator.NameRefused); n != 1 {
			p.Errorf("%d entries of the refusal", n)
		}
		if queue, err := p.verify().Names(bg, testOperator, verification.Cursor{}, 10); err != nil || len(queue) != 0 {
			p.Errorf("queue: %+v, %v", queue, err)
		}
	})
}

// TestNameConfirmedAndCancelledAtOnce: of an operator who confirms and a coach who cancels, one wins.
func TestNameConfirmedAndCancelledAtOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		ok(p, p.edit(by, "Delhi Public School"))
		var wait sync.WaitGroup
		var confirmed error
		wait.Go(func() {
			confirmed = p.verify().ConfirmName(bg, testOperator, by.AccountID, verification.SeenName{Name: "Delhi Public School"})
		})
		wait.Go(func() { _, err := p.profiles().Edit(bg, by, coach.Patch{CancelName: true}); ok(p, err) })
		wait.Wait()
		v := p.storedProfile(by)
		if v.NamePending != "" || (confirmed == nil) != (v.Name == "Delhi Public School") {
			p.Errorf("confirmed: %v, name %q, pending %q", confirmed, v.Name, v.NamePending)
		}
	})
}

// TestMarkFollowsTheIdentity: a verified coach has the mark only with the legal name, or a confirmed one, and the confirmed picture.
func TestMarkFollowsTheIdentity(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.verifiedCoach(1, "Arjun Mehta")
		want := func(when string, why ...string) {
			p.Helper()
			if got := p.storedProfile(by).Unmarked(); !slices.Equal(got, why) {
				p.Errorf("%s: %q keep the mark off, want %q", when, got, why)
			}
			waits := 0
			if len(why) > 0 || p.storedProfile(by).NamePending != "" {
				waits = 1
			}
			if queue, err := p.verify().Names(bg, testOperator, verification.Cursor{}, 10); err != nil || len(queue) != waits {
				p.Errorf("%s: %d in the queue, %v", when, len(queue), err)
			}
		}
		want("verified")
		ok(p, p.edit(by, "MEHTA, Árjun")) // the legal name, in another order
		want("same words")
		ok(p, p.edit(by, "Arjun Verma"))
		want("another name", "name")
		n, err := p.verify().ReadName(bg, testOperator, by.AccountID)
		ok(p, err)
		if n.LegalName != "Arjun Mehta" || n.Name != "Arjun Verma" || n.ConfirmedName != "MEHTA, Árjun" {
			p.Errorf("the operator compares %+v", n)
		}
		p.refused(p.verify().ConfirmName(bg, testOperator, by.AccountID, verification.SeenName{Name: "Arjun Mehta"}), "request_superseded")
		ok(p, p.verify().ConfirmName(bg, testOperator, by.AccountID, verification.SeenName{Name: "Arjun Verma"}))
		want("confirmed")
		picture := p.identity(by, "profile_picture")
		ok(p, run(p.db, `UPDATE documents SET sha256 = 'new' WHERE id = $1`, picture))
		_, err = p.profiles().Edit(bg, by, coach.Patch{Picture: &picture})
		ok(p, err)
		want("a new picture", "picture")
		p.refused(p.verify().ConfirmName(bg, testOperator, by.AccountID, verification.SeenName{Name: "Arjun Verma"}), "request_superseded")
		p.refused(p.verify().ConfirmName(bg, testOperator, by.AccountID, verification.SeenName{Name: "Arjun Verma", Picture: "of the file before"}), "request_superseded")
		ok(p, p.verify().ConfirmName(bg, testOperator, by.AccountID, verification.SeenName{Name: "Arjun Verma", Picture: "new"}))
		want("picture confirmed")
		p.clock.advance(31 * 24 * time.Hour)
		ok(p, p.edit(by, "Delhi Public School"))
		want("a name that waits")
		p.clock.advance(7 * 24 * time.Hour)
		_, err = p.profiles().TakeDueNames(bg, 10)
		ok(p, err)
		want("a name without an operator", "name")
		ok(p, p.verify().ConfirmName(bg, testOperator, by.AccountID, verification.SeenName{Name: "Delhi Public School", Picture: "new"}))
		want("confirmed again")
		if n := p.count(`SELECT count(*) FROM audit_log WHERE action = $1`, operator.NameConfirmed); n != 3 {
			p.Errorf("%d entries of confirmations, want 3", n)
		}
	})
}

// A name and a picture that came after the submission were not part of what the operator verified.
func TestMarkOfALaterName(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		ok(p, run(p.db, `UPDATE coaches SET name = 'Arjun Mehta' WHERE id = $1`, by.AccountID))
		_, s, err := p.verify().Submit(bg, by, "Arjun Mehta", []string{p.identity(by, "identity")})
		ok(p, err)
		ok(p, p.edit(by, "Arjun Verma"))
		_, err = p.verify().Approve(bg, testOperator, s.ID)
		ok(p, err)
		if got := p.storedProfile(by).Unmarked(); strings.Join(got, " ") != "name" {
			p.Errorf("%q keep the mark off, want the name", got)
		}
	})
}
