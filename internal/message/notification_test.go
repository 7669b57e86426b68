package message_test

import (
	"testing"

	"github.com/touchline/touchline/internal/message"
)

// TestCountedFor: copies count for the limits of the coach, unless the coach left.
func TestCountedFor(t *testing.T) {
	for kind, want := range map[message.Type]string{message.GuardianRequest: "c", message.PlayerRemoved: "c", message.CoachLeft: ""} {
		if got := (message.Draft{Type: kind, Data: message.Data{CoachID: "c"}}).CountedFor(); got != want {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
}
