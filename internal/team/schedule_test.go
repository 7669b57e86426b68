package team_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/team"
)

func TestSchedule(t *testing.T) {
	t.Parallel()
	s := team.Schedule{{time.Sunday, 600, 660}, {time.Monday, 1050, 1140}, {time.Monday, 360, 420}}
	if faults := s.Check(); len(faults) > 0 {
		t.Error(faults)
	}
	s.Sort()
	if got, want := s.String(), "monday 06:00-07:00, monday 17:30-19:00, sunday 10:00-11:00"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for name, bad := range map[string]team.Schedule{
		"/schedule/0/end": {{time.Monday, 600, 600}},
		"/schedule/1":     {{time.Monday, 600, 660}, {time.Monday, 659, 700}},
	} {
		if faults := bad.Check(); len(faults) != 1 || faults[0].Pointer != name {
			t.Errorf("got %v, want a fault at %s", faults, name)
		}
	}
}

func TestParseTimeOfDay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"00:00": "00:00", "23:59": "23:59", "24:00": "", "7:00": "", "07:60": "", "": "", "07:00 ": ""} {
		got, err := team.ParseTimeOfDay(text)
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("%q: got %s, %v", text, got, err)
		}
	}
}

// TestUpcoming: trainings of several time zones are in the order of their start, also on the
// day when clocks change.
func TestUpcoming(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 16, 0, 0, 0, time.UTC) // Saturday; clocks in Berlin change on Sunday
	daily := func(zone string, start, end team.TimeOfDay) *team.Batch {
		b := &team.Batch{Name: zone, TimeZone: zone}
		for day := time.Sunday; day <= time.Saturday; day++ {
			b.Schedule = append(b.Schedule, team.Slot{Weekday: day, Start: start, End: end})
		}
		return b
	}
	got := team.Upcoming([]*team.Batch{daily("Asia/Kolkata", 22*60, 23*60), daily("Europe/Berlin", 18*60, 19*60)}, now, 2)
	var starts []string
	for _, g := range got {
		starts = append(starts, g.Batch.Name+" "+g.StartsAt().Format(time.RFC3339))
	}
	want := []string{
		"Asia/Kolkata 2026-03-28T16:30:00Z", "Europe/Berlin 2026-03-28T17:00:00Z", "Europe/Berlin 2026-03-29T16:00:00Z", "Asia/Kolkata 2026-03-29T16:30:00Z",
	}
	if len(starts) != len(want) {
		t.Fatalf("got %q, want %q", starts, want)
	}
	for i := range want {
		if starts[i] != want[i] {
			t.Errorf("%d: got %q, want %q", i, starts[i], want[i])
		}
	}
}

// TestSkippedMidnight: where daylight saving time skips midnight, a day begins at 01:00 and not on the
// day before.
func TestSkippedMidnight(t *testing.T) {
	t.Parallel()
	for name, day := range map[string]team.Date{"America/Havana": "2026-03-08", "America/Santiago": "2026-09-06", "Africa/Cairo": "2026-04-24"} {
		zone := team.Zone(name)
		for of, want := range map[team.TimeOfDay]string{0: "01:00", 30: "01:30", 60: "01:00"} {
			if got := day.At(of, zone); team.DateOf(got, zone) != day || got.Format("15:04") != want {
				t.Errorf("%s: %s %s is %s, want %s", name, day, of, got, want)
			}
		}
		before := day.AddDays(-1)
		if end := before.End(zone); team.DateOf(end, zone) != day || team.DateOf(end.Add(-1), zone) != before {
			t.Errorf("%s: %s ends at %s", name, before, end)
		}
	}
}
