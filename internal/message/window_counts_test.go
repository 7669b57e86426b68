package message_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/message"
)

// TestMessageWindows: a message is counted once for each counter. It waits for a full
// window, and behind an older message that waits for the same limit.
func TestMessageWindows(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 6, 9, 0, 0, 0, time.UTC)
	limits := []message.Limit{
		{Key: "day", Counter: "coach", Size: 2, Max: 3, Window: 24 * time.Hour},
		{Key: "new", Counter: "coach", Size: 2, Max: 9, Window: 24 * time.Hour},
	}
	windows := message.Windows{}
	never := func(string) bool { return false }
	if key, wait := windows.BlockedBy(limits, never, now); key != "" || wait != 0 {
		t.Fatalf("empty windows: blocked by %q for %s", key, wait)
	}
	windows.Add(limits, now)
	if got := windows[message.WindowOf(limits[0])]; got.Size != 2 || !got.Oldest.Equal(now) {
		t.Errorf("counted %+v, want 2 once", got)
	}
	if key, wait := windows.BlockedBy(limits, never, now.Add(time.Hour)); key != "day" || wait != 23*time.Hour {
		t.Errorf("full window: blocked by %q for %s, want day for 23h", key, wait)
	}
	older := func(key string) bool { return key == "new" }
	if key, wait := (message.Windows{}).BlockedBy(limits, older, now); key != "new" || wait != 24*time.Hour {
		t.Errorf("behind an older message: blocked by %q for %s, want new for 24h", key, wait)
	}
}

// TestAdmit checks that the oldest of several messages leaves first, that an OTP does not
// wait, and that only a message that leaves is counted.
func TestAdmit(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 6, 9, 0, 0, 0, time.UTC)
	limits := []message.Limit{{Key: "day", Counter: "coach", Size: 1, Max: 1, Window: 24 * time.Hour}}
	full := message.WindowCount{Size: 1, Oldest: now.Add(-time.Hour)}
	for name, tt := range map[string]struct {
		id      string
		otp     bool
		counted message.WindowCount
		waits   string // the oldest that waits
		want    message.Admission
		oldest  string
	}{
		"fits":                    {"b", false, message.WindowCount{}, "", message.Admission{}, ""},
		"fits, a newer one waits": {"b", false, message.WindowCount{}, "c", message.Admission{}, "c"},
		"an older one waits":      {"b", false, message.WindowCount{}, "a", message.Admission{Key: "day", Wait: 24 * time.Hour}, "a"},
		"full":                    {"b", false, full, "", message.Admission{Key: "day", Wait: 23 * time.Hour}, "b"},
		"full, a newer one waits": {"b", false, full, "c", message.Admission{Key: "day", Wait: 23 * time.Hour}, "b"},
		"full for an OTP":         {"b", true, full, "", message.Admission{Key: "day", Drop: true}, ""},
	} {
		window := message.WindowOf(limits[0])
		windows, oldest := message.Windows{window: tt.counted}, map[string]string{"day": tt.waits}
		if got := windows.Admit(tt.id, tt.otp, limits, oldest, now); got != tt.want || oldest["day"] != tt.oldest {
			t.Errorf("%s: got %+v, oldest %q, want %+v, %q", name, got, oldest["day"], tt.want, tt.oldest)
		}
		if counted := windows[window] != tt.counted; counted != (tt.want.Key == "") {
			t.Errorf("%s: counted %t", name, counted)
		}
	}
}
