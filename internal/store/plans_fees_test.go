package store_test

import (
	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/platform/actor"
)

// feeStatements runs the statements on fees, payments, repeats and reminders.
func (p *fixture) feeStatements() {
	p.Helper()
	by, fees, services := p.coach(110), p.fees(), p.fees()
	a := p.add(by, "Asha Rao", number(111), number(112))
	guardian := p.as(actor.Guardian, number(111))
	ok(p, p.decide(guardian, a.ID, approval.Approve))
	batch := p.addBatch(by, a.ID)
	ok(p, p.fees().Check(bg, by, fee.Order{PlayerID: a.ID, BatchID: batch}))
	today, err := fees.Today(bg, by)
	ok(p, err)
	ok(p, fees.Check(bg, by, fee.Order{PlayerID: a.ID, DueOn: today}))
	due := p.addFee(by, a.ID, today)
	added, err := fees.Add(bg, by, fee.Order{BatchID: batch, Title: "Training", Amount: 1000, DueOn: today.AddMonths(-2), Repeat: true})
	ok(p, err)
	_, err = fees.Add(bg, by, fee.Order{PlayerIDs: []string{a.ID}, Title: "Kit", Amount: 1000, DueOn: today})
	ok(p, err)
	_, err = fees.Added(bg, by, added[0].SeriesID)
	ok(p, err)
	_, err = p.fees().MakeDue(bg, 10)
	ok(p, err)
	_, err = p.fees().RemindDue(bg, 100)
	ok(p, err)
	_, err = services.Remind(bg, by, due.ID)
	ok(p, err)
	_, err = services.Reminder(bg, by, due.ID)
	ok(p, err)
	ok(p, second(services.Tell(bg, guardian, a.ID, due.ID, true)))
	_, payment, err := fees.Pay(bg, by, due.ID, fee.Payment{Amount: 1, Method: "cash", PaidOn: today})
	ok(p, err)
	_, _, err = fees.Payment(bg, by, payment.ID)
	ok(p, err)
	_, _, err = fees.Reverse(bg, by, due.ID, payment.ID, "r")
	ok(p, err)
	for _, oldest := range []bool{false, true} {
		for _, f := range []fee.Filter{{}, {State: fee.Overdue}, {PlayerID: a.ID}, {BatchID: batch}} {
			f.OldestFirst = oldest
			_, err := fees.List(bg, by, f, fee.Page{Limit: 5})
			ok(p, err)
		}
	}
	_, err = fees.Payments(bg, by, 0, 5)
	ok(p, err)
	_, err = fees.ByMonth(bg, by)
	ok(p, err)
	_, err = fees.Unpaid(bg, by)
	ok(p, err)
	_, err = services.ListForFamily(bg, guardian, a.ID, fee.Page{Limit: 5})
	ok(p, err)
	_, err = services.Owed(bg, guardian, []string{a.ID})
	ok(p, err)
	_, err = services.FeeForFamily(bg, guardian, a.ID, due.ID)
	ok(p, err)
	repeats, err := fees.Repeats(bg, by, "", 5)
	ok(p, err)
	ok(p, fees.EndRepeat(bg, by, repeats[0].ID))
	ok(p, p.decide(guardian, a.ID, approval.Revoke))
}
