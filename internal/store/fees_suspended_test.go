package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/conversation"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/message"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/store/storetest"
	"github.com/touchline/touchline/internal/team"
)

// TestSuspendedCoachGetsNoMoney: while a coach is suspended, an approved party still reads its
// fees, but has no UPI link to pay them and no automatic reminder.
func TestSuspendedCoachGetsNoMoney(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		ok(t, run(p.db, `UPDATE coaches SET upi_id = 'm@bank', upi_changed_at = 1`))
		a := p.add(by, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		ok(t, p.decide(guardian, a.ID, approval.Approve))
		due := p.addFee(by, a.ID, "2026-03-08")
		accounts := &coach.AccountAdmin{Store: p.coaches()}
		want := func(payable bool) {
			t.Helper()
			list, err := p.fees().ListForFamily(bg, guardian, a.ID, fee.Page{Limit: 9})
			ok(t, err)
			one, err := p.fees().FeeForFamily(bg, guardian, a.ID, due.ID)
			ok(t, err)
			if len(list) != 1 || (list[0].Payee != nil) != payable || (one.Payee != nil) != payable {
				t.Errorf("the fees are %+v and %+v, want payable: %v", list, one, payable)
			}
		}
		want(true)
		ok(t, accounts.Suspend(bg, testOperator, by.AccountID, "why"))
		want(false)
		p.clock.now.Store(team.Date("2026-03-05").At(team.TimeOfDay(9*60), team.Zone("UTC")).UnixMicro())
		ok(t, second(p.fees().RemindDue(bg, 10)))
		if slices.Contains(p.tray(guardian.AccountID), "fee_reminder") {
			t.Error("a suspended coach reminds of a fee")
		}
		ok(t, accounts.Restore(bg, testOperator, by.AccountID))
		want(true)
		p.clock.now.Store(team.Date("2026-03-08").At(team.TimeOfDay(9*60), team.Zone("UTC")).UnixMicro())
		ok(t, second(p.fees().RemindDue(bg, 10)))
		if !slices.Contains(p.tray(guardian.AccountID), "fee_reminder") {
			t.Error("a restored coach does not remind of a fee")
		}
	})
}

// TestSuspendedCoachStops: what a coach began before the suspension does not reach a family after
// it: a message that waits for its recipients, also one whose recipients are read while the
// suspension commits, and the fees of each month. When the suspension ends, no month is lost.
func TestSuspendedCoachStops(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		postgres := strings.HasPrefix(url, "postgres")
		if postgres {
			url += "&lock_timeout=9s"
		}
		p := newFixture(t, url)
		by := p.coach(1)
		a := p.add(by, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		ok(t, p.decide(guardian, a.ID, approval.Approve))
		ok(t, second(p.fees().Add(bg, by, fee.Order{PlayerID: a.ID, Title: "Training", Amount: 1000, DueOn: "2026-03-08", Repeat: true})))
		send := func() conversation.Message {
			t.Helper()
			m, err := p.messages(0).Send(bg, by, conversation.Draft{To: conversation.Target{All: true}, Audience: conversation.ToGuardians, Text: "Hi", Channels: []conversation.Channel{conversation.InApp, conversation.SMS}})
			ok(t, err)
			return m
		}
		leftOut := func(when string, m conversation.Message) {
			t.Helper()
			if got := p.recipients(by, m.ID); !slices.Equal(got, []string{"Asha Rao guardian left_out account_suspended"}) || slices.Contains(p.tray(guardian.AccountID), "team_message") {
				t.Errorf("%s: recipients %q, notifications %q", when, got, p.tray(guardian.AccountID))
			}
		}
		accounts := &coach.AccountAdmin{Store: p.coaches()}
		if postgres {
			m := send()
			commit := commitWhenWaited(t, url, 1, `WITH coach AS (UPDATE coaches SET version = version RETURNING id)
				UPDATE accounts SET suspended_at = 1, suspended_why = 'why' FROM coach WHERE accounts.id = coach.id`)
			expanded := make(chan error, 1)
			go func() { expanded <- second(p.messages(0).ExpandNext(bg)) }()
			commit()
			ok(t, <-expanded)
			leftOut("suspended meanwhile", m)
			ok(t, accounts.Restore(bg, testOperator, by.AccountID))
		}
		m := send()
		ok(t, accounts.Suspend(bg, testOperator, by.AccountID, "why"))
		p.expand()
		leftOut("suspended before", m)

		fees := func(want int) {
			t.Helper()
			for range 5 {
				ok(t, second(p.fees().MakeDue(bg, 10)))
			}
			if n := p.count(`SELECT count(*) FROM fees`); n != want {
				t.Errorf("%d fees, want %d", n, want)
			}
		}
		p.clock.advance(70 * day) // 11 May: the fees due in April and May were made a week before
		fees(1)
		ok(t, accounts.Restore(bg, testOperator, by.AccountID))
		fees(3)
	})
}

// TestSuspendedCoachSendsNoRequest: a request that waits when an operator suspends the
// coach does not leave. The family can still answer it.
func TestSuspendedCoachSendsNoRequest(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		by := p.coach(1)
		a := p.add(by, "Asha Rao", number(2), "")
		accounts := &coach.AccountAdmin{Store: p.coaches()}
		request := p.claimOneRequest()
		want := func(when, want string) {
			p.Helper()
			_, to, open, err := p.RequestDetails(bg, request)
			ok(p, err)
			if reason, _ := to.Check(request.Kind, "", p.clock.Now()); reason != want || !open {
				p.Errorf("%s: dropped for %q, open: %t; want %q of an open request", when, reason, open, want)
			}
		}
		want("before", "")
		ok(p, accounts.Suspend(bg, testOperator, by.AccountID, "why"))
		want("suspended", message.ReasonNotWanted)
		ok(p, accounts.Restore(bg, testOperator, by.AccountID))
		want("restored", "")
		ok(p, accounts.Suspend(bg, testOperator, by.AccountID, "why"))
		ok(p, p.decide(p.as(actor.Guardian, number(2)), a.ID, approval.Approve))
	})
}
