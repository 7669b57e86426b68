package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

func allFeatures(context.Context, actor.Actor, string) error { return nil }

func (p *fixture) fees() *fee.Service {
	return &fee.Service{DB: p.db, Consent: p.Access(), DefaultCurrency: "INR", CheckFeature: allFeatures}
}

// addFee adds a fee of 10 rupees for a player.
func (p *fixture) addFee(by actor.Actor, playerID string, due team.Date) *fee.Fee {
	p.Helper()
	added, err := p.fees().Add(bg, by, fee.Order{PlayerID: playerID, Title: "March", Amount: 1000, DueOn: due})
	ok(p, err)
	return added[0]
}

func cash(amount int64) fee.Payment {
	return fee.Payment{Amount: amount, Method: "cash", PaidOn: "2026-03-02"}
}

// addBatch adds a batch with players.
func (p *fixture) addBatch(by actor.Actor, players ...string) string {
	p.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	ok(p, run(p.db, `
		INSERT INTO batches (id, coach_id, version, name, schedule, time_zone, created_at, updated_at)
		VALUES ($1, $2, 1, 'Juniors', '[]', 'Asia/Kolkata', 1, 1)`, id, by.AccountID))
	for _, player := range players {
		ok(p, run(p.db, `INSERT INTO batch_players (coach_id, batch_id, player_id, joined_at) VALUES ($1, $2, $3, 1)`, by.AccountID, id, player))
	}
	return id
}

// TestConcurrentPayments: payments at the same time never exceed the balance, one reversal
// of a payment wins, and receipts have no gaps.
func TestConcurrentPayments(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, fees := p.coach(1), p.fees()
		player := p.add(coach, "Asha Rao", number(2), "")
		a, b := p.addFee(coach, player.ID, "2026-03-02"), p.addFee(coach, player.ID, "2026-04-02")
		results := p.countCodes(concurrently(16, func(i int) error {
			_, _, err := fees.Pay(bg, coach, []string{a.ID, b.ID}[i%2], cash(300))
			return err
		}))
		if diff := cmp.Diff(map[string]int{"": 6, "payment_exceeds_balance": 10}, results); diff != "" {
			t.Fatalf("payments (-want +got):\n%s", diff)
		}
		f, err := fees.Fee(bg, coach, a.ID)
		ok(t, err)
		if f.Paid != 900 || len(f.Payments) != 3 {
			t.Fatalf("paid %d in %d payments, want 900 in 3", f.Paid, len(f.Payments))
		}
		first := f.Payments[0].ID
		results = p.countCodes(concurrently(8, func(i int) error {
			if i%2 == 0 {
				_, _, err := fees.Reverse(bg, coach, a.ID, first, "Noted twice.")
				return err
			}
			_, _, err := fees.Pay(bg, coach, a.ID, cash(400))
			return err
		}))
		if results["invalid_transition"] != 3 || results[""] > 2 || results[""] < 1 {
			t.Errorf("reversals and payments: %v, want one reversal, and one payment at most", results)
		}
		f, err = fees.Fee(bg, coach, a.ID)
		ok(t, err)
		var sum int64
		for _, payment := range f.Payments {
			if payment.ReversedAt.IsZero() {
				sum += payment.Amount
			}
		}
		if f.Paid != sum || sum > f.Amount {
			t.Errorf("paid %d of %d, and the payments are %d", f.Paid, f.Amount, sum)
		}
		n := p.count(`SELECT count(*) FROM fee_payments WHERE coach_id = $1`, coach.AccountID)
		last := p.count(`SELECT max(receipt) FROM fee_payments WHERE coach_id = $1`, coach.AccountID)
		if n != last {
			t.Errorf("%d payments have receipts up to %d", n, last)
		}
		other := p.coach(3)
		for name, err := range map[string]error{
			"read":   second(fees.Fee(bg, other, a.ID)),
			"waive":  second(fees.Waive(bg, other, a.ID, "r")),
			"absent": second(fees.Fee(bg, other, uuid.Must(uuid.NewV7()).String())),
			"add":    second(fees.Add(bg, other, fee.Order{PlayerID: player.ID, Title: "x", Amount: 1, DueOn: "2026-03-02"})),
		} {
			if fault.CodeOf(err) != "not_found" {
				t.Errorf("another coach, %s: %v, want not_found", name, err)
			}
		}
	})
}

// TestRepeatedFees: each month of a repeat is made once on several replicas, for the players
// that the batch has then, and the repeat ends with the batch.
func TestRepeatedFees(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, fees := p.coach(1), p.fees()
		asha, bela := p.add(coach, "Asha Rao", number(2), ""), p.add(coach, "Bela Rao", number(2), "")
		batch := p.addBatch(coach, asha.ID, bela.ID)
		added, err := fees.Add(bg, coach, fee.Order{BatchID: batch, Title: "Training", Amount: 1000, DueOn: "2026-01-31", Repeat: true, Until: "2026-05-31"})
		ok(t, err)
		single, err := fees.Add(bg, coach, fee.Order{PlayerID: asha.ID, Title: "Kit", Amount: 500, DueOn: "2026-03-02", Repeat: true})
		ok(t, err)
		if len(added) != 2 || len(single) != 1 {
			t.Fatalf("added %d and %d fees", len(added), len(single))
		}
		dates := func(want ...string) {
			t.Helper()
			for _, err := range concurrently(6, func(int) error {
				for n := 1; n > 0; {
					var err error
					if n, err = p.fees().MakeDue(bg, 10); err != nil {
						return err
					}
				}
				return nil
			}) {
				ok(t, err)
			}
			all, err := fees.List(bg, coach, fee.Filter{OldestFirst: true}, fee.Page{Limit: 100})
			ok(t, err)
			var got []string
			for _, f := range all {
				got = append(got, fmt.Sprintf("%s %s %s", f.DueOn, f.Title, f.StudentName[:1]))
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("at %s (-want +got):\n%s", p.clock.Now(), diff)
			}
		}
		until := []string{"2026-01-31 Training A", "2026-01-31 Training B", "2026-02-28 Training A", "2026-02-28 Training B", "2026-03-02 Kit A"}
		dates(until...) // the month that was missed is made up for
		ok(t, run(p.db, `UPDATE batch_players SET left_at = 1 WHERE player_id = $1`, bela.ID))
		p.clock.advance(23 * day) // 2026-03-25
		until = append(until, "2026-03-31 Training A")
		dates(until...)
		repeats, err := fees.Repeats(bg, coach, "", 10)
		ok(t, err)
		if len(repeats) != 2 || repeats[0].Title != "Kit" || repeats[0].StudentName != "Asha Rao" || repeats[1].BatchName != "Juniors" {
			t.Fatalf("got repeats %+v", repeats)
		}
		ok(t, fees.EndRepeat(bg, coach, repeats[0].ID))
		p.refused(fees.EndRepeat(bg, coach, repeats[0].ID), "not_found")
		ok(t, run(p.db, `UPDATE batches SET archived_at = 1 WHERE id = $1`, batch))
		p.clock.advance(90 * day)
		dates(until...)
		if n := p.count(`SELECT count(*) FROM fee_repeats WHERE ended_at IS NULL`); n != 0 {
			t.Errorf("%d repeats have not ended", n)
		}
		_, err = fees.Add(bg, coach, fee.Order{BatchID: batch, Title: "x", Amount: 1, DueOn: "2026-06-02"})
		p.refused(err, "batch_archived")
	})
}

// TestFeeList: filters and pages, in both orders.
func TestFeeList(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, fees := p.coach(1), p.fees()
		asha, bela := p.add(coach, "Asha Rao", number(2), ""), p.add(coach, "Bela Rao", number(2), "")
		batch := p.addBatch(coach, asha.ID)
		names := map[string]string{}
		add := func(name string, o fee.Order) string {
			o.Title, o.Amount = name, 1000
			added, err := fees.Add(bg, coach, o)
			ok(t, err)
			names[added[0].ID] = name
			return added[0].ID
		}
		add("overdue", fee.Order{PlayerID: asha.ID, DueOn: "2026-03-01"})
		add("today", fee.Order{BatchID: batch, DueOn: "2026-03-02"})
		add("later", fee.Order{PlayerID: bela.ID, DueOn: "2026-04-01"})
		add("dollars", fee.Order{PlayerID: bela.ID, DueOn: "2026-02-01", Currency: "USD"})
		_, _, err := fees.Pay(bg, coach, add("paid", fee.Order{PlayerID: asha.ID, DueOn: "2026-03-01"}), cash(1000))
		ok(t, err)
		_, _, err = fees.Pay(bg, coach, add("partly", fee.Order{PlayerID: asha.ID, DueOn: "2026-03-01"}), cash(1))
		ok(t, err)
		_, err = fees.Waive(bg, coach, add("waived", fee.Order{PlayerID: asha.ID, DueOn: "2026-02-28"}), "A sibling.")
		ok(t, err)
		_, err = fees.Void(bg, coach, add("void", fee.Order{PlayerID: asha.ID, DueOn: "2026-02-27"}), "A mistake.")
		ok(t, err)
		for name, c := range map[string]struct {
			filter fee.Filter
			want   []string
		}{
			"all":            {fee.Filter{}, []string{"later", "today", "partly", "paid", "overdue", "waived", "void", "dollars"}},
			"oldest first":   {fee.Filter{OldestFirst: true}, []string{"dollars", "void", "waived", "overdue", "paid", "partly", "today", "later"}},
			"unpaid":         {fee.Filter{State: fee.Unpaid}, []string{"later", "today", "partly", "overdue", "dollars"}},
			"unpaid, oldest": {fee.Filter{State: fee.Unpaid, OldestFirst: true}, []string{"dollars", "overdue", "partly", "today", "later"}},
			"due":            {fee.Filter{State: fee.Due}, []string{"later", "today"}},
			"overdue":        {fee.Filter{State: fee.Overdue}, []string{"partly", "overdue", "dollars"}},
			"paid":           {fee.Filter{State: fee.Paid}, []string{"paid"}},
			"waived":         {fee.Filter{State: fee.Waived}, []string{"waived"}},
			"void, player":   {fee.Filter{State: fee.Void, PlayerID: asha.ID}, []string{"void"}},
			"player":         {fee.Filter{PlayerID: bela.ID}, []string{"later", "dollars"}},
			"player, oldest": {fee.Filter{PlayerID: bela.ID, OldestFirst: true}, []string{"dollars", "later"}},
			"batch":          {fee.Filter{BatchID: batch}, []string{"today"}},
			"batch, overdue": {fee.Filter{BatchID: batch, State: fee.Overdue}, nil},
			"batch, player":  {fee.Filter{BatchID: batch, PlayerID: bela.ID}, nil},
			"month":          {fee.Filter{}.Month("2026-02-01"), []string{"waived", "void", "dollars"}},
			"month, overdue": {fee.Filter{State: fee.Overdue}.Month("2026-03-01"), []string{"partly", "overdue"}},
		} {
			var got []string
			for page := (fee.Page{Limit: 2}); ; {
				found, err := fees.List(bg, coach, c.filter, page)
				ok(t, err)
				for _, f := range found {
					got = append(got, names[f.ID])
					page.After = fee.Position{DueOn: f.DueOn, ID: f.ID}
				}
				if len(found) < 2 {
					break
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		sums, err := fees.Unpaid(bg, coach)
		ok(t, err)
		want := []fee.Sum{{Currency: "INR", Unpaid: 4, Overdue: 2, UnpaidTotal: 3999, OverdueTotal: 1999}, {Currency: "USD", Unpaid: 1, Overdue: 1, UnpaidTotal: 1000, OverdueTotal: 1000}}
		if diff := cmp.Diff(want, sums); diff != "" {
			t.Errorf("sums (-want +got):\n%s", diff)
		}
		owed, err := fees.Owed(bg, coach, []string{asha.ID, bela.ID})
		ok(t, err)
		if diff := cmp.Diff(map[string]fee.Owed{
			asha.ID: {Amount: 2999, Currency: "INR", DueOn: "2026-03-01", Overdue: true}, bela.ID: {Amount: 1000, Currency: "USD", DueOn: "2026-02-01", Overdue: true},
		}, owed); diff != "" {
			t.Errorf("owed (-want +got):\n%s", diff)
		}
		if owed, err := fees.Owed(bg, p.coach(9), []string{asha.ID}); err != nil || len(owed) != 0 {
			t.Errorf("owed of another coach's player: %v, %v", owed, err)
		}
	})
}

// TestFeeReminders: three days before and on the due date, once on several replicas, to
// approved parties alone. A revocation takes them out of the tray.
func TestFeeReminders(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		a := p.add(coach, "Asha Rao", number(2), number(3))
		guardian, student := p.as(actor.Guardian, number(2)), p.as(actor.Student, number(3))
		due := p.addFee(coach, a.ID, "2026-03-08")
		paid := p.addFee(coach, a.ID, "2026-03-08")
		_, _, err := p.fees().Pay(bg, coach, paid.ID, cash(1000))
		ok(t, err)
		ok(t, p.decide(guardian, a.ID, approval.Approve))
		reminders := func(by actor.Actor) (n int) {
			for _, kind := range p.tray(by.AccountID) {
				if kind == "fee_reminder" {
					n++
				}
			}
			return n
		}
		want := func(forGuardian int) {
			t.Helper()
			for _, err := range concurrently(6, func(int) error { return second(p.fees().RemindDue(bg, 10)) }) {
				ok(t, err)
			}
			if g, s := reminders(guardian), reminders(student); g != forGuardian || s != 0 {
				t.Fatalf("at %s the guardian has %d reminders and the student %d, want %d and 0", p.clock.Now(), g, s, forGuardian)
			}
		}
		at := func(day team.Date, hour int) {
			p.clock.now.Store(day.At(team.TimeOfDay(60*hour), team.Zone("UTC")).UnixMicro())
		}
		want(0)
		at("2026-03-05", 9)
		want(1)
		at("2026-03-07", 23)
		want(1)
		at("2026-03-08", 9)
		want(2)
		at("2026-03-20", 9)
		want(2)
		services := p.fees()
		for left := 2; left >= 0; left-- {
			sent, err := services.Remind(bg, coach, due.ID)
			ok(t, err)
			if sent.Left != left || sent.Parties[0].Access != team.Granted || sent.Parties[1].Access != team.ApprovalPending {
				t.Fatalf("sent %+v, want %d left", sent, left)
			}
		}
		want(5)
		p.refused(second(services.Remind(bg, coach, due.ID)), "reminder_limit")
		p.refused(second(services.Remind(bg, coach, paid.ID)), "invalid_transition")
		p.refused(second(services.Remind(bg, p.coach(9), due.ID)), "not_found")
		ok(t, p.decide(guardian, a.ID, approval.Revoke))
		want(0)
		p.clock.advance(day)
		if sent, err := services.Remind(bg, coach, due.ID); err != nil || sent.Left != 3 {
			t.Errorf("without an approval: %+v, %v; want a reminder that does not count", sent, err)
		}
		want(0)
	})
}

// TestFeesFollowApprovals: over random decisions, fees, payments and reminders, no party
// reads a fee, can pay it or has a reminder of it unless it has approved at that moment.
func TestFeesFollowApprovals(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach := p.coach(1)
		ok(t, run(p.db, `UPDATE coaches SET upi_id = 'm@bank', upi_changed_at = 1`))
		a := p.add(coach, "Asha Rao", number(2), number(3))
		parties := map[actor.Role]actor.Actor{actor.Guardian: p.as(actor.Guardian, number(2)), actor.Student: p.as(actor.Student, number(3))}
		first := p.addFee(coach, a.ID, "2026-03-02")
		services, fees, random := p.fees(), p.fees(), newRand(newSeed(t), 0)
		var steps []string
		for range 60 {
			party := approval.Parties[random.IntN(2)]
			step := []string{"approve", "approve", "revoke", "reject", "ask", "fee", "remind", "pay", "day"}[random.IntN(9)]
			steps = append(steps, string(party)+" "+step)
			switch step {
			case "approve", "revoke", "reject":
				_ = p.decide(parties[party], a.ID, map[string]approval.Trigger{"approve": approval.Approve, "revoke": approval.Revoke, "reject": approval.Reject}[step])
			case "ask":
				_, _, _ = p.send(coach, a.ID, party)
			case "fee":
				p.addFee(coach, a.ID, team.DateOf(p.clock.Now(), time.UTC))
			case "remind":
				_, _ = services.Remind(bg, coach, first.ID)
			case "pay":
				_, _, _ = fees.Pay(bg, coach, first.ID, cash(1))
			case "day":
				p.clock.advance(day)
			}
			ok(t, second(p.fees().RemindDue(bg, 100)))
			now, err := p.Player(bg, coach, a.ID)
			ok(t, err)
			for _, party := range approval.Parties {
				by, state := parties[party], now.Party(party).Consent.State
				want := map[approval.State]string{approval.Approved: "", approval.Pending: "approval_pending", approval.Rejected: "approval_required", approval.Revoked: "approval_required"}[state]
				list, listErr := services.ListForFamily(bg, by, a.ID, fee.Page{Limit: 100})
				one, oneErr := services.FeeForFamily(bg, by, a.ID, first.ID)
				if fault.CodeOf(listErr) != want || fault.CodeOf(oneErr) != want || (want == "") != (len(list) > 0 && one.Payee != nil) {
					t.Fatalf("%s is %s: %v and %v with %d fees, want %q, after %q", party, state, listErr, oneErr, len(list), want, steps)
				}
				if state != approval.Approved && slices.Contains(p.tray(by.AccountID), "fee_reminder") {
					t.Fatalf("%s is %s and has a reminder, after %q", party, state, steps)
				}
			}
		}
		p.add(p.coach(5), "Kiran Das", number(6), "")
		p.refused(second(services.ListForFamily(bg, p.as(actor.Guardian, number(6)), a.ID, fee.Page{Limit: 1})), "not_found")
	})
}

// TestRemindersRaceRevocation: a reminder and a revocation at the same time leave no reminder
// in the tray of the party that revoked.
func TestRemindersRaceRevocation(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		coach, services := p.coach(1), p.fees()
		a := p.add(coach, "Asha Rao", number(2), "")
		guardian := p.as(actor.Guardian, number(2))
		for round := range 15 {
			var fees []*fee.Fee
			for range 6 {
				fees = append(fees, p.addFee(coach, a.ID, "2026-03-20"))
			}
			ok(t, p.decide(guardian, a.ID, approval.Approve))
			for _, err := range concurrently(1+len(fees), func(i int) error {
				if i == 0 {
					return p.decide(guardian, a.ID, approval.Revoke)
				}
				return second(services.Remind(bg, coach, fees[i-1].ID))
			}) {
				ok(t, err)
			}
			if left := p.tray(guardian.AccountID); slices.Contains(left, "fee_reminder") {
				t.Fatalf("round %d: the tray has %v after the revocation", round, left)
			}
			ok(t, third(p.send(coach, a.ID, actor.Guardian)))
		}
	})
}
