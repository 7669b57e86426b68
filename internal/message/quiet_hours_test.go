package message_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
)

func TestQuietHours(t *testing.T) {
	kolkata, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(zone *time.Location, text string) time.Time {
		t.Helper()
		parsed, err := time.ParseInLocation("2006-01-02 15:04:05", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	for _, tt := range []struct {
		start, end string
		zone       *time.Location
		now, want  string // want "" is outside
	}{
		{"21:00", "07:30", kolkata, "2026-03-02 20:59:59", ""},
		{"21:00", "07:30", kolkata, "2026-03-02 21:00:00", "2026-03-03 07:30:00"},
		{"21:00", "07:30", kolkata, "2026-03-03 00:00:00", "2026-03-03 07:30:00"},
		{"21:00", "07:30", kolkata, "2026-03-03 07:29:59", "2026-03-03 07:30:00"},
		{"21:00", "07:30", kolkata, "2026-03-03 07:30:00", ""},
		{"21:00", "07:30", kolkata, "2026-02-28 23:00:00", "2026-03-01 07:30:00"},
		{"13:00", "15:00", kolkata, "2026-03-02 12:59:59", ""},
		{"13:00", "15:00", kolkata, "2026-03-02 13:00:00", "2026-03-02 15:00:00"},
		{"13:00", "15:00", kolkata, "2026-03-02 15:00:00", ""},
		{"00:00", "06:00", kolkata, "2026-03-02 00:00:00", "2026-03-02 06:00:00"},
		{"22:00", "00:00", kolkata, "2026-03-02 23:59:00", "2026-03-03 00:00:00"},
		// The night is an hour shorter and an hour longer when the clock changes.
		{"22:00", "06:00", berlin, "2026-03-28 23:00:00", "2026-03-29 06:00:00"},
		{"22:00", "06:00", berlin, "2026-10-24 23:00:00", "2026-10-25 06:00:00"},
		{"09:00", "09:00", kolkata, "2026-03-02 09:00:00", ""},
	} {
		start, _ := message.ParseTimeOfDay(tt.start)
		end, _ := message.ParseTimeOfDay(tt.end)
		got := message.QuietHours{Start: start, End: end}.EndAfter(at(tt.zone, tt.now))
		if tt.want == "" && !got.IsZero() || tt.want != "" && !got.Equal(at(tt.zone, tt.want)) {
			t.Errorf("%s to %s at %s: until %s, want %q", tt.start, tt.end, tt.now, got, tt.want)
		}
	}
	// The second 02:30 of the day on which the clock is set back.
	second := time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC).In(berlin)
	if got := (message.QuietHours{Start: 2 * 60, End: 2*60 + 45}).EndAfter(second); !got.IsZero() && !got.After(second) {
		t.Errorf("quiet hours that contain %s end at %s", second, got)
	}
}

func TestTimeOfDay(t *testing.T) {
	for text, want := range map[string]int{"00:00": 0, "07:30": 450, "23:59": 1439, "24:00": -1, "7:30": -1, "07:60": -1, "": -1, "07:30:00": -1, "०७:३०": -1} {
		got, ok := message.ParseTimeOfDay(text)
		if ok != (want >= 0) || ok && (int(got) != want || got.String() != text) {
			t.Errorf("ParseTimeOfDay(%q) = %d (%s), %t", text, got, got, ok)
		}
	}
}
