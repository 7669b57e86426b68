package demo

import (
	"encoding/json"
	"testing"
)

// TestQueuedOnAny: a recipient is delivered in the app while its SMS is queued.
func TestQueuedOnAny(t *testing.T) {
	for body, want := range map[string]bool{
		`[]`: false,
		`[{"state": "delivered", "channels": [{"state": "queued"}, {"state": "delivered"}]}]`: true,
		`[{"state": "delivered", "channels": [{"state": "sent"}, {"state": "delivered"}]}]`:   false,
	} {
		var recipients any
		if err := json.Unmarshal([]byte(body), &recipients); err != nil {
			t.Fatal(err)
		}
		if got := queuedOnAny(recipients); got != want {
			t.Errorf("%s: queued %t, want %t", body, got, want)
		}
	}
}
