package approval_test

import (
	"testing"

	"github.com/touchline/touchline/internal/approval"
	"github.com/touchline/touchline/internal/platform/fault"
)

func TestCheckCoachNumber(t *testing.T) {
	for _, tt := range []struct {
		isContact, allowed bool
		want               string
	}{{false, false, ""}, {false, true, ""}, {true, true, ""}, {true, false, "contact_conflict"}} {
		if got := fault.CodeOf(approval.CheckCoachNumber(tt.isContact, tt.allowed)); got != tt.want {
			t.Errorf("contact %t, allowed %t: got code %q, want %q", tt.isContact, tt.allowed, got, tt.want)
		}
	}
}
