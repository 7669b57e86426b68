package securitylog

import "testing"

// TestLimiter checks that a kind is logged eventsPerSecond times in a second, and that
// the next second tells how many were left out.
func TestLimiter(t *testing.T) {
	var l limiter
	for i := range eventsPerSecond + 3 {
		if _, ok := l.allowAt("a", 100); ok != (i < eventsPerSecond) {
			t.Errorf("event %d: got %t", i, ok)
		}
	}
	if omitted, ok := l.allowAt("b", 100); omitted != 0 || !ok {
		t.Errorf("another kind: got %d, %t, want 0, true", omitted, ok)
	}
	if omitted, ok := l.allowAt("a", 101); omitted != 3 || !ok {
		t.Errorf("the next second: got %d, %t, want 3, true", omitted, ok)
	}
	if omitted, ok := l.allowAt("a", 101); omitted != 0 || !ok {
		t.Errorf("after it was told: got %d, %t, want 0, true", omitted, ok)
	}
}
