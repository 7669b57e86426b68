package store_test

import (
	"slices"
	"testing"

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/coach"
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
		fee := p.addFee(by, a.ID, "2026-03-08")
		accounts := &coach.AccountAdmin{Store: p.db}
		want := func(payable bool) {
			t.Helper()
			list, err := p.feeServices().List(bg, guardian, a.ID, team.FeePage{Limit: 9})
			ok(t, err)
			one, err := p.feeServices().Fee(bg, guardian, a.ID, fee.ID)
			ok(t, err)
			if len(list) != 1 || (list[0].Payee != nil) != payable || (one.Payee != nil) != payable {
				t.Errorf("the fees are %+v and %+v, want payable: %v", list, one, payable)
			}
		}
		want(true)
		ok(t, accounts.Suspend(bg, testOperator, by.AccountID, "why"))
		want(false)
		p.clock.now.Store(team.Date("2026-03-05").At(team.TimeOfDay(9*60), team.Zone("UTC")).UnixMicro())
		ok(t, second(p.db.RemindFees(bg, 10)))
		if slices.Contains(p.tray(guardian.AccountID), "fee_reminder") {
			t.Error("a suspended coach reminds of a fee")
		}
		ok(t, accounts.Restore(bg, testOperator, by.AccountID))
		want(true)
		p.clock.now.Store(team.Date("2026-03-08").At(team.TimeOfDay(9*60), team.Zone("UTC")).UnixMicro())
		ok(t, second(p.db.RemindFees(bg, 10)))
		if !slices.Contains(p.tray(guardian.AccountID), "fee_reminder") {
			t.Error("a restored coach does not remind of a fee")
		}
	})
}
