package store_test

import (
	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/team"
)

// feeStatements runs the statements on fees, payments, repeats and reminders.
func (p *fixture) feeStatements() {
	p.Helper()
	by, fees, services := p.coach(110), p.fees(), p.feeServices()
	a := p.add(by, "Asha Rao", number(111), number(112))
	guardian := p.as(actor.Guardian, number(111))
	ok(p, p.decide(guardian, a.ID, approval.Approve))
	batch := p.addBatch(by, a.ID)
	ok(p, p.db.CheckPayers(bg, by.AccountID, team.FeeOrder{PlayerID: a.ID, BatchID: batch}))
	today, err := fees.Today(bg, by)
	ok(p, err)
	ok(p, fees.Check(bg, by, team.FeeOrder{PlayerID: a.ID, DueOn: today}))
	fee := p.addFee(by, a.ID, today)
	added, err := fees.Add(bg, by, team.FeeOrder{BatchID: batch, Title: "Training", Amount: 1000, DueOn: today.AddMonths(-2), Repeat: true})
	ok(p, err)
	_, err = p.db.FeesOfSeries(bg, by.AccountID, added[0].SeriesID)
	ok(p, err)
	_, err = p.db.MakeFees(bg, 10)
	ok(p, err)
	_, err = p.db.RemindFees(bg, 100)
	ok(p, err)
	_, err = services.Remind(bg, by, fee.ID)
	ok(p, err)
	_, err = services.Reminder(bg, by, fee.ID)
	ok(p, err)
	_, payment, err := fees.Pay(bg, by, fee.ID, team.Payment{Amount: 1, Method: "cash", PaidOn: today})
	ok(p, err)
	_, err = p.db.FeeOfPayment(bg, by.AccountID, payment.ID)
	ok(p, err)
	_, _, err = fees.Reverse(bg, by, fee.ID, payment.ID, "r")
	ok(p, err)
	for _, oldest := range []bool{false, true} {
		for _, f := range []team.FeeFilter{{}, {State: team.Overdue}, {PlayerID: a.ID}, {BatchID: batch}} {
			f.OldestFirst = oldest
			_, err := fees.List(bg, by, f, team.FeePage{Limit: 5})
			ok(p, err)
		}
	}
	_, err = p.db.Payments(bg, by.AccountID, 0, 5)
	ok(p, err)
	_, err = fees.Unpaid(bg, by)
	ok(p, err)
	_, err = services.List(bg, guardian, a.ID, team.FeePage{Limit: 5})
	ok(p, err)
	_, err = services.Fee(bg, guardian, a.ID, fee.ID)
	ok(p, err)
	repeats, err := fees.Repeats(bg, by, "", 5)
	ok(p, err)
	ok(p, fees.EndRepeat(bg, by, repeats[0].ID))
	ok(p, p.decide(guardian, a.ID, approval.Revoke))
}
