package approval_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
)

func TestAdultOn(t *testing.T) {
	for born, want := range map[string]string{
		"2008-03-20": "2026-03-20", "2008-02-29": "2026-03-01", "2010-12-31": "2028-12-31", "2006-02-28": "2024-02-28", "1992-02-29": "2010-03-01", "2002-02-28": "2020-02-28",
	} {
		d, err := approval.ParseDate(born)
		if err != nil {
			t.Fatal(err)
		}
		on := d.AdultOn()
		if got := on.String(); got != want {
			t.Errorf("born %s: adult on %s, want %s", born, got, want)
		}
		midnight := time.Date(on.Year, on.Month, on.Day, 0, 0, 0, 0, time.UTC)
		if d.IsAdult(midnight.Add(-time.Second)) || !d.IsAdult(midnight) {
			t.Errorf("born %s: IsAdult does not change on %s", born, want)
		}
	}
}

// TestAdultStepAt: a step is due on the coach's day, and an adult by UTC.
func TestAdultStepAt(t *testing.T) {
	born := approval.Date{Year: 2008, Month: 2, Day: 29}
	for name, want := range map[string]struct{ soon, turned string }{
		"UTC":                 {"2026-01-30T09:00:00Z", "2026-03-01T09:00:00Z"},
		"Asia/Kolkata":        {"2026-01-30T03:30:00Z", "2026-03-01T03:30:00Z"},
		"America/Los_Angeles": {"2026-01-30T17:00:00Z", "2026-03-01T17:00:00Z"},
		"Pacific/Kiritimati":  {"2026-01-30T00:00:00Z", "2026-03-01T00:00:00Z"}, // UTC+14: 14:00
		"Pacific/Pago_Pago":   {"2026-01-30T20:00:00Z", "2026-03-01T20:00:00Z"}, // UTC-11
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for step, want := range map[approval.AdultStep]string{approval.TurningSoon: want.soon, approval.Turned: want.turned} {
			at := born.AdultStepAt(step, zone)
			if got := at.Format(time.RFC3339); got != want {
				t.Errorf("%s, %s: due at %s, want %s", name, step, got, want)
			}
			day := approval.Date{Year: 2026, Month: 3, Day: 1}
			if step == approval.TurningSoon {
				day = approval.Date{Year: 2026, Month: 1, Day: 30}
			}
			if got := at.In(zone).Format(time.DateOnly); got != day.String() {
				t.Errorf("%s, %s: the coach's day is %s, want %s", name, step, got, day)
			}
			if step == approval.Turned && !born.IsAdult(at) {
				t.Errorf("%s: told before the student is an adult", name)
			}
		}
	}
}

func TestFirstAdultStep(t *testing.T) {
	born := approval.Date{Year: 2008, Month: 3, Day: 20}
	for at, want := range map[string]approval.AdultStep{
		"2020-01-01T00:00:00Z": approval.TurningSoon, "2026-02-17T23:59:59Z": approval.TurningSoon, "2026-02-18T00:00:00Z": approval.Turned,
		"2026-03-19T23:59:59Z": approval.Turned, "2026-03-20T00:00:00Z": "", "2040-01-01T00:00:00Z": "",
	} {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if step, due := born.FirstAdultStep(now); step != want || step != "" && !due.After(now) {
			t.Errorf("at %s: step %q at %s, want %q later", at, step, due, want)
		}
	}
}
