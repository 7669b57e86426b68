package team_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/team"
)

func TestDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from   team.Date
		months int
		want   team.Date
	}{
		{"2026-01-31", 1, "2026-02-28"},
		{"2026-01-31", 2, "2026-03-31"},
		{"2028-01-31", 1, "2028-02-29"},
		{"2026-12-15", 1, "2027-01-15"},
		{"2026-01-31", -2, "2025-11-30"},
	} {
		if got := c.from.AddMonths(c.months); got != c.want {
			t.Errorf("%s and %d months is %s, want %s", c.from, c.months, got, c.want)
		}
	}
	for _, text := range []string{"", "2026-02-29", "2026-2-1", "02-03-2026", "2026-02-01T00:00:00Z"} {
		if d, err := team.ParseDate(text); err == nil {
			t.Errorf("%q is %s, want an error", text, d)
		}
	}
	if got := team.DateOf(noon.Add(12*time.Hour), kolkata); got != "2026-03-03" {
		t.Errorf("the date is %s", got)
	}
}

func TestFeeOrderCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		order team.FeeOrder
		want  string
	}{
		{team.FeeOrder{DueOn: "2026-03-02"}, ""},
		{team.FeeOrder{DueOn: "2021-03-02"}, ""},
		{team.FeeOrder{DueOn: "2021-03-01"}, "/due_on"},
		{team.FeeOrder{DueOn: "2031-03-03"}, "/due_on"},
		{team.FeeOrder{DueOn: "2025-03-02", Repeat: true}, ""},
		{team.FeeOrder{DueOn: "2025-03-01", Repeat: true}, "/due_on"},
		{team.FeeOrder{DueOn: "2026-03-02", Repeat: true, Until: "2026-03-02"}, ""},
		{team.FeeOrder{DueOn: "2026-03-02", Repeat: true, Until: "2026-03-01"}, "/repeat/until"},
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
	r := &team.FeeRepeat{FeeOrder: team.FeeOrder{DueOn: "2026-01-31", Repeat: true, Until: "2026-04-30"}}
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
		if got := format(team.FirstFeeReminder(c.due, kolkata, noon)); got != c.first {
			t.Errorf("due on %s: first at %q, want %q", c.due, got, c.first)
		}
		if got := format(team.NextFeeReminder(c.due, kolkata, noon)); got != c.next {
			t.Errorf("due on %s: next at %q, want %q", c.due, got, c.next)
		}
	}
}

func TestFeesFor(t *testing.T) {
	t.Parallel()
	ids := 0
	newID := func() string { ids++; return fmt.Sprint(ids) }
	o := team.FeeOrder{BatchID: "b", Title: "March", Amount: 5, Currency: "INR", DueOn: "2026-01-31"}
	fees := o.FeesFor("c", "s", 1, []team.Payer{{PlayerID: "p"}, {PlayerID: "q"}}, kolkata, noon, newID)
	if len(fees) != 2 || fees[1].ID != "2" || fees[1].PlayerID != "q" || fees[1].DueOn != "2026-02-28" || fees[1].Period != 1 || fees[1].SeriesID != "s" || fees[1].BatchID != "b" {
		t.Errorf("got %+v", fees)
	}
}
