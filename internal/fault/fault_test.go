package fault_test

import (
	"errors"
	"testing"

	"github.com/touchline/touchline/internal/fault"
)

// TestDown: a log and a start that fails say what is away, not what callers are told.
func TestDown(t *testing.T) {
	if got := fault.Down(errors.New("connection refused")).Error(); got != "unavailable: connection refused" {
		t.Error(got)
	}
}
