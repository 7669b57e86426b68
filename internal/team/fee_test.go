package team_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/team"
)

var (
	kolkata = time.FixedZone("IST", 5*3600+1800)
	noon    = time.Date(2026, 3, 2, 6, 30, 0, 0, time.UTC) // 12:00 in kolkata
)

const today team.Date = "2026-03-02"

func openFee() *team.Fee {
	return &team.Fee{ID: "f", Amount: 1000, Currency: "INR", DueOn: today, Status: team.FeeOpen}
}

func pay(amount int64) team.Payment { return team.Payment{ID: "p", Amount: amount, Method: "cash"} }

func TestFeeState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		due    team.Date
		status team.FeeStatus
		want   team.FeeState
	}{
		{today, team.FeeOpen, team.Due},
		{today.AddDays(1), team.FeeOpen, team.Due},
		{today.AddDays(-1), team.FeeOpen, team.Overdue},
		{today.AddDays(-1), team.FeePaid, team.Paid},
		{today.AddDays(-1), team.FeeWaived, team.Waived},
		{today.AddDays(-1), team.FeeVoid, team.Void},
	} {
		f := openFee()
		f.DueOn, f.Status = c.due, c.status
		if got := f.State(today); got != c.want {
			t.Errorf("%s due on %s is %s, want %s", c.status, c.due, got, c.want)
		}
	}
}

// TestFeeTransitions: what each status allows, and the code of what it does not.
func TestFeeTransitions(t *testing.T) {
	t.Parallel()
	statuses := map[string]func(*team.Fee){
		"open":   func(*team.Fee) {},
		"partly": func(f *team.Fee) { must(t, f.Pay(pay(400), today)) },
		"paid":   func(f *team.Fee) { must(t, f.Pay(pay(1000), today)) },
		"waived": func(f *team.Fee) { must(t, f.Pay(pay(400), today)); must(t, f.Waive("r", noon, today)) },
		"void":   func(f *team.Fee) { must(t, f.Void("r", noon, today)) },
	}
	actions := map[string]func(*team.Fee) error{
		"pay 600": func(f *team.Fee) error { return f.Pay(pay(600), today) },
		"pay 601": func(f *team.Fee) error { return f.Pay(pay(601), today) },
		"waive":   func(f *team.Fee) error { return f.Waive("r", noon, today) },
		"void":    func(f *team.Fee) error { return f.Void("r", noon, today) },
		"reverse": func(f *team.Fee) error { _, err := f.Reverse("p", "r", kolkata, noon); return err },
	}
	const ok, state, exceeds, missing = "", "invalid_transition", "payment_exceeds_balance", "not_found"
	for status, want := range map[string]map[string]string{
		"open":   {"pay 600": ok, "pay 601": ok, "waive": ok, "void": ok, "reverse": missing},
		"partly": {"pay 600": ok, "pay 601": exceeds, "waive": ok, "void": state, "reverse": ok},
		"paid":   {"pay 600": exceeds, "pay 601": exceeds, "waive": state, "void": state, "reverse": ok},
		"waived": {"pay 600": state, "pay 601": state, "waive": state, "void": state, "reverse": ok},
		"void":   {"pay 600": state, "pay 601": state, "waive": state, "void": state, "reverse": missing},
	} {
		for action, code := range want {
			f := openFee()
			statuses[status](f)
			before := *f
			err := actions[action](f)
			if got := fault.CodeOf(err); got != code {
				t.Errorf("%s, %s: code %q, want %q", status, action, got, code)
			}
			if err != nil && (f.Status != before.Status || f.Paid != before.Paid || len(f.Payments) != len(before.Payments)) {
				t.Errorf("%s, %s: refused, and the fee changed to %+v", status, action, f)
			}
		}
	}
}

// TestVoidPaidFee: the error of voiding a paid fee says how to do it, and that works.
func TestVoidPaidFee(t *testing.T) {
	t.Parallel()
	f := openFee()
	must(t, f.Pay(pay(1000), today))
	if err := f.Void("r", noon, today); err == nil || !strings.Contains(err.Error(), "Reverse its payments first.") {
		t.Errorf("void of a paid fee: %v", err)
	}
	if _, err := f.Reverse("p", "r", kolkata, noon); err != nil {
		t.Fatal(err)
	}
	must(t, f.Void("r", noon, today))
}

// TestPaymentsSum: after any payments and reversals, paid is the sum of the payments that
// count, and never above the amount.
func TestPaymentsSum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := openFee()
		f.Amount = rapid.Int64Range(1, team.MaxAmount).Draw(t, "amount")
		for i := range rapid.IntRange(1, 20).Draw(t, "steps") {
			if id := string(rune('a' + rapid.IntRange(0, 20).Draw(t, "id"))); rapid.Bool().Draw(t, "reverse") {
				_, _ = f.Reverse(id, "r", kolkata, noon)
			} else {
				_ = f.Pay(team.Payment{ID: string(rune('a' + i)), Amount: rapid.Int64Range(1, f.Amount).Draw(t, "paid")}, today)
			}
			var sum int64
			for _, p := range f.Payments {
				if p.ReversedAt.IsZero() {
					sum += p.Amount
				}
			}
			if sum != f.Paid || f.Paid > f.Amount || f.Balance() != f.Amount-sum || (f.Status == team.FeePaid) != (f.Balance() == 0) {
				t.Fatalf("payments are %d, fee %+v", sum, f)
			}
		}
	})
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		currency, text string
		amount         int64
	}{
		{"INR", "1500.00", 150000},
		{"INR", "0.05", 5},
		{"INR", "-0.05", -5},
		{"INR", "10000000000.00", team.MaxAmount},
		{"JPY", "1500", 1500},
		{"KWD", "1.500", 1500},
	} {
		if got := team.FormatAmount(c.amount, c.currency); got != c.text {
			t.Errorf("%d %s is %s, want %s", c.amount, c.currency, got, c.text)
		}
		if got, code := team.ParseAmount(c.text, c.currency); (code == "") != (c.amount > 0) || code == "" && got != c.amount {
			t.Errorf("%s %s is %d, %q; want %d", c.text, c.currency, got, code, c.amount)
		}
	}
	for text, want := range map[string]int64{
		"1,500": 150000, "1,500.5": 150050, " 1500.5 ": 150050, "1,00,000": 10000000, "1,000,000": 100000000, "0": 0,
		"₹1,500.00": 150000, "₹ 1,50,000": 15000000, "Rs. 1500/-": 150000, "rs 1,500": 150000, "INR 1500.50": 150050, "1500 INR": 150000, "1500 ₹": 150000,
		"1 500": 150000, "1\u00a0500.00": 150000, "₹\u00a01\u202f50\u202f000": 15000000, "1500/-": 150000, "रु 500": 50000, "1,23,45,678": 1234567800,
	} {
		if got, code := team.ParseAmount(text, "INR"); code != "" || got != want {
			t.Errorf("%q is %d, %q; want %d", text, got, code, want)
		}
	}
	for code, texts := range map[string][]string{
		"too_large":        {"9999999999999999999999"},
		"invalid_amount":   {"", ".", "-1", "₹-5", "1e3", "٣", "$15", "€15", "EUR 15", "Rs", "₹₹5", "15 rupees", "1/2"},
		"ambiguous_amount": {"1.505", "1.500", "1.5.0", "12,50", "1.500,00", "1,5000", ",500", "1,,500", "1.5,0", "1,0,000", "1,5000,000", "15 00", "1, 500", "1,500 000", "₹12,50"},
	} {
		for _, text := range texts {
			if got, found := team.ParseAmount(text, "INR"); found != code {
				t.Errorf("%q is %d, %q; want %s", text, got, found, code)
			}
		}
	}
	if got, code := team.ParseAmount("$15.50", "USD"); got != 1550 || code != "" {
		t.Errorf("$15.50 is %d, %q", got, code)
	}
}

func TestCurrencies(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{"INR": true, "AED": true, "ZWG": true, "JPY": true, "inr": false, "XXX": false, "": false, "RUPEE": false} {
		if got := team.KnownCurrency(code); got != want {
			t.Errorf("%q is known: %t, want %t", code, got, want)
		}
	}
}

func TestUPILink(t *testing.T) {
	t.Parallel()
	f := openFee()
	f.ID = "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21"
	must(t, f.Pay(pay(1), today))
	p := team.UPIPayee{UPIID: "meera.rao@okbank", Name: "Meera & Rao +1", ChangedAt: noon}
	const want = "upi://pay?pa=meera.rao%40okbank&pn=Meera%20%26%20Rao%20%2B1&tr=0198f2c46a107c3e9b524f0e8d1a7b21&am=9.99&cu=INR"
	if got := p.Link(f); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if until := p.NewUntil(noon.Add(time.Hour)); !until.Equal(noon.AddDate(0, 0, 7)) || !p.NewUntil(until).IsZero() {
		t.Errorf("the UPI ID is new until %s", until)
	}
	for name, change := range map[string]func(*team.UPIPayee, *team.Fee){
		"no UPI ID":        func(p *team.UPIPayee, _ *team.Fee) { p.UPIID = "" },
		"another currency": func(_ *team.UPIPayee, f *team.Fee) { f.Currency = "USD" },
		"suspended":        func(p *team.UPIPayee, _ *team.Fee) { p.Suspended = true },
		"waived":           func(_ *team.UPIPayee, f *team.Fee) { f.Status = team.FeeWaived },
	} {
		payee, fee := p, *f
		if change(&payee, &fee); payee.CanPay(&fee) || !p.CanPay(f) {
			t.Errorf("%s: can pay", name)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
