package store_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/privacy"
)

// TestStopOutlivesAccounts: a number that stopped a coach stays stopped when the player is erased, when the person deletes the account,
// and when the coach closes the account and registers again; a number that disputed a request then counts as stopped. No table has the
// number meanwhile. The person ends the stop as before, for good.
func TestStopOutlivesAccounts(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		c, other := p.coach(1), p.coach(9)
		people := &privacy.Service{DB: p.db, RemovePlayer: p.RemoveForErasure, LeavePlayer: p.Leave}
		remove := func(id string) { ok(p, p.Remove(bg, c, id)) }
		erase := func(n int) {
			p.Helper()
			p.clock.advance(31 * day)
			ok(p, second(p.db.Sweep(bg, p.clock.Now())))
			if p.count(`SELECT count(*) FROM accounts WHERE mobile_number = $1`, string(number(n))) != 0 || p.count(`SELECT count(*) FROM stopped_coaches WHERE mobile_number = $1`, string(number(n))) != 0 {
				p.Errorf("number %d is left", n)
			}
		}
		wantStopped := func(when string, by actor.Actor, n int, want bool) (id string) {
			p.Helper()
			id = p.add(by, "Asha Rao", number(n), "").ID
			if got := p.blockedBy(by) == "stopped"; got != want {
				p.Errorf("%s: number %d is stopped: %t, want %t", when, n, got, want)
			}
			return id
		}
		stop := func(n int, coaches ...string) {
			p.Helper()
			_, err := p.db.Outbox.SavePreferences(bg, number(n), message.PreferencesPatch{StoppedCoaches: &coaches})
			ok(p, err)
		}

		a := p.add(c, "Asha Rao", number(2), "").ID
		stop(2, c.AccountID)
		remove(a)
		erase(2)
		ok(p, p.Remove(bg, other, wantStopped("another coach", other, 2, false)))
		a = wantStopped("after an erasure", c, 2, true)
		ok(p, people.EraseAccount(bg, p.as(actor.Guardian, number(2)).AccountID, nil))
		remove(a)
		a = wantStopped("after the person deleted the account", c, 2, true)
		stop(2)
		remove(a)
		erase(2)
		remove(wantStopped("after the person ended it", c, 2, false))

		s := p.signIn()
		register := func() {
			c = p.pageLogin(s, actor.Coach, number(5), auth.PageLifetime, 0).Session.Actor()
			ok(p, run(p.db, `UPDATE coaches SET name = 'Coach' WHERE id = $1`, c.AccountID))
		}
		again := func() {
			p.Helper()
			register()                     // the session may have ended
			p.clock.advance(6 * time.Hour) // for the limit of OTPs
			_, err := s.RequestOTP(bg, auth.OTPRequest{Number: c.Number, Role: actor.Coach, Network: network})
			ok(p, err)
			ok(p, s.Close(bg, c, "", testCode))
			p.clock.advance(6 * time.Hour) // for the limit of OTPs
			register()
		}
		register()
		p.add(c, "Bela Rao", number(3), "")
		stop(3, c.AccountID)
		disputed := p.add(c, "Chitra Rao", number(4), "")
		_, err := p.Dispute(bg, p.as(actor.Guardian, number(4)), disputed.Party(actor.Guardian).Request.ID, approval.Wording{})
		ok(p, err)
		again()
		p.wantPreferences(3, message.Preferences{StoppedCoaches: []string{c.AccountID}})
		for _, n := range []int{3, 4} {
			remove(wantStopped("after the coach came back", c, n, true))
		}
		erase(3)
		again()
		for _, n := range []int{3, 4} {
			remove(wantStopped("after an erasure and the coach's second return", c, n, true))
		}
		stop(4)
		again()
		remove(wantStopped("after the person ended it and the coach came back", c, 4, false))
	})
}
