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

// TestClockChanges: a time that daylight saving time skips is as much later, and of one that is there twice the first counts, in zones on both
// sides of Greenwich.
func TestClockChanges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		zone string
		day  team.Date
		of   team.TimeOfDay
		want string // in UTC
	}{
		{"Europe/London", "2026-03-29", 60 + 30, "01:30"},
		{"Europe/Berlin", "2026-03-29", 2*60 + 30, "01:30"},
		{"America/New_York", "2026-03-08", 2*60 + 30, "07:30"},
		{"Europe/London", "2026-03-29", 59, "00:59"},
		{"Europe/London", "2026-03-29", 2 * 60, "01:00"},
		{"America/New_York", "2026-03-08", 3 * 60, "07:00"},
		{"Europe/London", "2026-10-25", 60 + 30, "00:30"},
		{"Europe/Berlin", "2026-10-25", 2*60 + 30, "00:30"},
		{"America/New_York", "2026-11-01", 60 + 30, "05:30"},
		{"Europe/London", "2026-10-25", 2 * 60, "02:00"},
		{"Europe/Berlin", "2026-10-25", 3 * 60, "02:00"},
		{"America/New_York", "2026-11-01", 2 * 60, "07:00"},
		{"Europe/Berlin", "2026-10-25", 2 * 60, "00:00"},
		{"Asia/Kolkata", "2026-10-25", 5*60 + 30, "00:00"},
		{"UTC", "2026-10-25", 60, "01:00"},
	} {
		if got := tt.day.At(tt.of, team.Zone(tt.zone)); got.UTC().Format("15:04") != tt.want || got.Location().String() != tt.zone {
			t.Errorf("%s %s in %s is %s, want %s UTC", tt.day, tt.of, tt.zone, got, tt.want)
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
