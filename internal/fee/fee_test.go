package fee_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/touchline/touchline/internal/fee"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/team"
)

func TestRepeatEndedBy(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		want bool
	}{
		"no error":         {nil, false},
		"player removed":   {fault.Missing(), true},
		"batch archived":   {(&team.Batch{ArchivedAt: time.Unix(1, 0)}).CheckOpen(), true},
		"database is down": {fault.Down(errors.New("down")), false},
	} {
		if got := fee.EndedBy(tt.err); got != tt.want {
			t.Errorf("%s: got %t, want %t", name, got, tt.want)
		}
	}
}

var (
	kolkata = time.FixedZone("IST", 5*3600+1800)
	noon    = time.Date(2026, 3, 2, 6, 30, 0, 0, time.UTC) // 12:00 in kolkata
)

const today team.Date = "2026-03-02"

func openFee() *fee.Fee {
	return &fee.Fee{ID: "f", Amount: 1000, Currency: "INR", DueOn: today, Status: fee.StatusOpen, Zone: kolkata}
}

func pay(amount int64) fee.Payment { return fee.Payment{ID: "p", Amount: amount, Method: "cash"} }

func TestFeeState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		due    team.Date
		status fee.Status
		want   fee.State
	}{
		{today, fee.StatusOpen, fee.Due},
		{today.AddDays(1), fee.StatusOpen, fee.Due},
		{today.AddDays(-1), fee.StatusOpen, fee.Overdue},
		{today.AddDays(-1), fee.StatusPaid, fee.Paid},
		{today.AddDays(-1), fee.StatusWaived, fee.Waived},
		{today.AddDays(-1), fee.StatusVoid, fee.Void},
	} {
		f := openFee()
		f.DueOn, f.Status = c.due, c.status
		if got := f.State(noon); got != c.want {
			t.Errorf("%s due on %s is %s, want %s", c.status, c.due, got, c.want)
		}
	}
}

// TestFeeTransitions: what each status allows, and the code of what it does not.
func TestFeeTransitions(t *testing.T) {
	t.Parallel()
	statuses := map[string]func(*fee.Fee){
		"open":   func(*fee.Fee) {},
		"partly": func(f *fee.Fee) { must(t, f.Pay(pay(400), noon)) },
		"paid":   func(f *fee.Fee) { must(t, f.Pay(pay(1000), noon)) },
		"waived": func(f *fee.Fee) { must(t, f.Pay(pay(400), noon)); must(t, f.Waive("r", noon)) },
		"void":   func(f *fee.Fee) { must(t, f.Void("r", noon)) },
	}
	actions := map[string]func(*fee.Fee) error{
		"pay 600": func(f *fee.Fee) error { return f.Pay(pay(600), noon) },
		"pay 601": func(f *fee.Fee) error { return f.Pay(pay(601), noon) },
		"waive":   func(f *fee.Fee) error { return f.Waive("r", noon) },
		"void":    func(f *fee.Fee) error { return f.Void("r", noon) },
		"reverse": func(f *fee.Fee) error { _, err := f.Reverse("p", "r", noon); return err },
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
	must(t, f.Pay(pay(1000), noon))
	if err := f.Void("r", noon); err == nil || !strings.Contains(err.Error(), "Reverse its payments first.") {
		t.Errorf("void of a paid fee: %v", err)
	}
	if _, err := f.Reverse("p", "r", noon); err != nil {
		t.Fatal(err)
	}
	must(t, f.Void("r", noon))
}

// TestPaymentsSum: after any payments and reversals, paid is the sum of the payments that
// count, and never above the amount.
func TestPaymentsSum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := openFee()
		f.Amount = rapid.Int64Range(1, fee.MaxAmount).Draw(t, "amount")
		for i := range rapid.IntRange(1, 20).Draw(t, "steps") {
			if id := string(rune('a' + rapid.IntRange(0, 20).Draw(t, "id"))); rapid.Bool().Draw(t, "reverse") {
				_, _ = f.Reverse(id, "r", noon)
			} else {
				_ = f.Pay(fee.Payment{ID: string(rune('a' + i)), Amount: rapid.Int64Range(1, f.Amount).Draw(t, "paid")}, noon)
			}
			var sum int64
			for _, p := range f.Payments {
				if p.ReversedAt.IsZero() {
					sum += p.Amount
				}
			}
			if sum != f.Paid || f.Paid > f.Amount || f.Balance() != f.Amount-sum || (f.Status == fee.StatusPaid) != (f.Balance() == 0) {
				t.Fatalf("payments are %d, fee %+v", sum, f)
			}
		}
	})
}

func TestUPILink(t *testing.T) {
	t.Parallel()
	f := openFee()
	f.ID = "0198f2c4-6a10-7c3e-9b52-4f0e8d1a7b21"
	must(t, f.Pay(pay(1), noon))
	p := fee.Payee{UPIID: "meera.rao@okbank", Name: "Meera & Rao +1", ChangedAt: noon}
	const want = "upi://pay?pa=meera.rao@okbank&pn=Meera%20%26%20Rao%20%2B1&tr=0198f2c46a107c3e9b524f0e8d1a7b21&am=9.99&cu=INR"
	if got := p.Link(f); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if until := p.NewUntil(noon.Add(time.Hour)); !until.Equal(noon.AddDate(0, 0, 7)) || !p.NewUntil(until).IsZero() {
		t.Errorf("the UPI ID is new until %s", until)
	}
	for name, change := range map[string]func(*fee.Payee, *fee.Fee){
		"no UPI ID":        func(p *fee.Payee, _ *fee.Fee) { p.UPIID = "" },
		"another currency": func(_ *fee.Payee, f *fee.Fee) { f.Currency = "USD" },
		"suspended":        func(p *fee.Payee, _ *fee.Fee) { p.Suspended = true },
		"waived":           func(_ *fee.Payee, f *fee.Fee) { f.Status = fee.StatusWaived },
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

func TestFeeOrderCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		order fee.Order
		want  string
	}{
		{fee.Order{DueOn: "2026-03-02"}, ""},
		{fee.Order{DueOn: "2021-03-02"}, ""},
		{fee.Order{DueOn: "2021-03-01"}, "/due_on"},
		{fee.Order{DueOn: "2031-03-03"}, "/due_on"},
		{fee.Order{DueOn: "2025-03-02", Repeat: true}, ""},
		{fee.Order{DueOn: "2025-03-01", Repeat: true}, "/due_on"},
		{fee.Order{DueOn: "2026-03-02", Repeat: true, Until: "2026-03-02"}, ""},
		{fee.Order{DueOn: "2026-03-02", Repeat: true, Until: "2026-03-01"}, "/repeat/until"},
	} {
		got := ""
		if err := c.order.Check(today); err != nil {
			got = err.(*fault.Error).Fields[0].Pointer
		}
		if got != c.want {
			t.Errorf("%+v: fault at %q, want %q", c.order, got, c.want)
		}
	}
}

// TestRepeat: the months of a repeat, when each is made, and the last one.
func TestRepeat(t *testing.T) {
	t.Parallel()
	r := &fee.Repeat{Order: fee.Order{DueOn: "2026-01-31", Repeat: true, Until: "2026-04-30"}}
	var made []string
	for r.EndedAt.IsZero() {
		made = append(made, fmt.Sprintf("%s at %s", r.DueOf(r.Made), r.NextAt.Format(time.RFC3339)))
		r.Advance(kolkata, noon)
	}
	want := []string{
		"2026-01-31 at 0001-01-01T00:00:00Z",
		"2026-02-28 at 2026-02-20T18:30:00Z",
		"2026-03-31 at 2026-03-23T18:30:00Z",
		"2026-04-30 at 2026-04-22T18:30:00Z",
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("months (-want +got):\n%s", diff)
	}
	if !r.NextAt.IsZero() {
		t.Errorf("the repeat has ended and is due at %s", r.NextAt)
	}
}

// TestFeeReminders: three days before and on the day, at nine, in the coach's time zone.
func TestFeeReminders(t *testing.T) {
	t.Parallel()
	nine := func(d team.Date) string { return string(d) + " 09:00" }
	for _, c := range []struct {
		due         team.Date
		first, next string // next is after a reminder at noon
	}{
		{"2026-03-09", nine("2026-03-06"), nine("2026-03-06")},
		{"2026-03-05", string(today) + " 12:00", nine("2026-03-05")},
		{"2026-03-03", nine("2026-03-03"), nine("2026-03-03")},
		{"2026-03-02", string(today) + " 12:00", ""},
		{"2026-03-01", "", ""},
	} {
		format := func(at time.Time) string {
			if at.IsZero() {
				return ""
			}
			return at.In(kolkata).Format("2006-01-02 15:04")
		}
		if got := format(fee.FirstReminder(c.due, kolkata, noon)); got != c.first {
			t.Errorf("due on %s: first at %q, want %q", c.due, got, c.first)
		}
		if got := format(fee.NextReminder(c.due, kolkata, noon)); got != c.next {
			t.Errorf("due on %s: next at %q, want %q", c.due, got, c.next)
		}
	}
}

func TestFeesFor(t *testing.T) {
	t.Parallel()
	ids := 0
	newID := func() string { ids++; return fmt.Sprint(ids) }
	o := fee.Order{BatchID: "b", Title: "March", Amount: 5, Currency: "INR", DueOn: "2026-01-31"}
	fees := o.FeesFor("c", "s", 1, []fee.Payer{{PlayerID: "p"}, {PlayerID: "q"}}, kolkata, noon, newID)
	if len(fees) != 2 || fees[1].ID != "2" || fees[1].PlayerID != "q" || fees[1].DueOn != "2026-02-28" || fees[1].Period != 1 || fees[1].SeriesID != "s" || fees[1].BatchID != "b" {
		t.Errorf("got %+v", fees)
	}
}

func TestFeeFilterStored(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		state    fee.State
		from, to team.Date
		want     string
	}{
		{"", "", "", `"" "" ""`},
		{"", "2026-01-01", "2026-12-31", `"" "2026-01-01" "2026-12-31"`},
		{fee.Paid, "", "2026-12-31", `"paid" "" "2026-12-31"`},
		{fee.Unpaid, "2026-01-01", "", `"open" "2026-01-01" ""`},
		{fee.Due, "", "", `"open" "2026-03-10" ""`},
		{fee.Due, "2026-03-01", "2026-03-31", `"open" "2026-03-10" "2026-03-31"`},
		{fee.Due, "2026-04-01", "2026-04-30", `"open" "2026-04-01" "2026-04-30"`},
		{fee.Overdue, "", "", `"open" "" "2026-03-09"`},
		{fee.Overdue, "2026-03-01", "2026-03-31", `"open" "2026-03-01" "2026-03-09"`},
		{fee.Overdue, "2026-02-01", "2026-02-28", `"open" "2026-02-01" "2026-02-28"`},
	} {
		status, from, to := fee.Filter{State: tt.state, From: tt.from, To: tt.to}.Stored("2026-03-10")
		if got := fmt.Sprintf("%q %q %q", status, from, to); got != tt.want {
			t.Errorf("%s from %q to %q: got %s, want %s", tt.state, tt.from, tt.to, got, tt.want)
		}
	}
}

// TestRemindersOfSuspendedCoach: no party is reminded while an operator suspends the coach.
func TestRemindersOfSuspendedCoach(t *testing.T) {
	t.Parallel()
	for _, suspended := range []bool{false, true} {
		a := fee.Audience{
			Fee: openFee(), Suspended: suspended,
			Linked: []fee.Party{{Role: actor.Guardian, AccountID: "g"}, {Role: actor.Student, AccountID: "s", Access: team.ApprovalPending}},
		}
		a.Fee.DueOn = team.DateOf(noon, kolkata)
		automatic := a.RemindAutomatically(noon)
		sent, events, err := a.Remind(noon)
		must(t, err)
		if n := len(events); len(automatic) != n || (n == 0) != suspended || (len(sent.Parties) == 0) != suspended {
			t.Errorf("suspended %t: %d and %d events, parties %+v", suspended, len(automatic), n, sent.Parties)
		}
	}
}
