package web

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/coach"
)

// TestDayWithoutMidnight: a zone whose summer time begins at midnight has no 0:00 on that day.
func TestDayWithoutMidnight(t *testing.T) {
	t.Parallel()
	r, err := sharedRenderer()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		zone      string
		day, want string
	}{
		{"America/Santiago", "2026-09-06", "6 September"},
		{"America/Havana", "2027-03-14", "14 March 2027"},
		{"Pacific/Kiritimati", "2026-12-31", "31 December"},
		{"Pacific/Pago_Pago", "2027-01-01", "1 January 2027"},
	} {
		zone, err := time.LoadLocation(tt.zone)
		if err != nil {
			t.Fatal(err)
		}
		v := &View{Texts: Texts{zone: zone, now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), texts: r.catalogue("en")}}
		if got := v.Day(coach.Date(tt.day)); got != tt.want {
			t.Errorf("%s in %s is %q, want %q", tt.day, tt.zone, got, tt.want)
		}
	}
}

func TestDays(t *testing.T) {
	t.Parallel()
	r, err := sharedRenderer()
	if err != nil {
		t.Fatal(err)
	}
	v, hindi := &View{Texts: Texts{texts: r.catalogue("en")}}, &View{Texts: Texts{texts: r.catalogue("hi")}}
	for d, want := range map[time.Duration]string{
		0:                              "less than a minute",
		time.Minute - 1:                "less than a minute",
		time.Minute:                    "1 minute",
		59 * time.Minute:               "59 minutes",
		time.Hour:                      "1 hour",
		24*time.Hour - 1:               "23 hours",
		24 * time.Hour:                 "1 day",
		3*24*time.Hour + 5*time.Minute: "3 days",
	} {
		if got := v.Days(d); got != want {
			t.Errorf("Days(%s) is %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{-time.Second: "एक मिनट से कम", time.Minute: "1 मिनट"} {
		if got := hindi.Days(d); got != want {
			t.Errorf("Days(%s) is %q in Hindi, want %q", d, got, want)
		}
	}
}
