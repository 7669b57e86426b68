package notify_test

import (
	"testing"

	"github.com/touchline/touchline/internal/notify"
)

// TestCountedFor: copies count for the limits of the coach, unless the coach left.
func TestCountedFor(t *testing.T) {
	for kind, want := range map[notify.Type]string{notify.GuardianRequest: "c", notify.PlayerRemoved: "c", notify.CoachLeft: ""} {
		if got := (notify.Draft{Type: kind, Data: notify.Data{CoachID: "c"}}).CountedFor(); got != want {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
}
