package fault_test

import (
	"errors"
	"testing"

	"github.com/touchline/touchline/internal/platform/fault"
)

// TestDownErrorNamesCause checks that logs show the cause instead of the message.
func TestDownErrorNamesCause(t *testing.T) {
	if got := fault.Down(errors.New("connection refused")).Error(); got != "unavailable: connection refused" {
		t.Errorf("got %q", got)
	}
}
