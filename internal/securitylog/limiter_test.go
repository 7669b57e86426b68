package securitylog

import "testing"

// TestLimiter: a kind of event is logged eventsPerSecond times in a second, and the first one in the
// next second has the number of those that were omitted.
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
		t.Errorf("the one after it: got %d, %t, want 0, true", omitted, ok)
	}
}
