package approval_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/approval"
)

// TestMessageWindows: a message is counted once for each counter. It waits for a full
// window, and behind an older message that waits for the same limit.
func TestMessageWindows(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 6, 9, 0, 0, 0, time.UTC)
	limits := []approval.MessageLimit{
		{Key: "day", Counter: "coach", Size: 2, Max: 3, Window: 24 * time.Hour},
		{Key: "new", Counter: "coach", Size: 2, Max: 9, Window: 24 * time.Hour},
	}
	windows := approval.MessageWindows{}
	never := func(string) bool { return false }
	if key, wait := windows.BlockedBy(limits, never, now); key != "" || wait != 0 {
		t.Fatalf("empty windows: blocked by %q for %s", key, wait)
	}
	windows.Add(limits, now)
	if got := windows[approval.WindowOf(limits[0])]; got.Size != 2 || !got.Oldest.Equal(now) {
		t.Errorf("counted %+v, want 2 once", got)
	}
	if key, wait := windows.BlockedBy(limits, never, now.Add(time.Hour)); key != "day" || wait != 23*time.Hour {
		t.Errorf("full window: blocked by %q for %s, want day for 23h", key, wait)
	}
	older := func(key string) bool { return key == "new" }
	if key, wait := (approval.MessageWindows{}).BlockedBy(limits, older, now); key != "new" || wait != 24*time.Hour {
		t.Errorf("behind an older message: blocked by %q for %s, want new for 24h", key, wait)
	}
}
