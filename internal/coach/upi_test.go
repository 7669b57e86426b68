package coach_test

import (
	"strings"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/coach"
	"github.com/touchline/touchline/internal/message/event"
	"github.com/touchline/touchline/internal/platform/fault"
)

func TestCheckUPIID(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		"meera@okbank": true, "9876543210@ybl": true, "meera.rao-1_x@okhdfcbank": true, "Meera@Bank2": true,
		"": false, "meera": false, "@bank": false, "m@bank": false, "meera@": false, "meera@b": false, "meera@ok bank": false, "meera@ok@bank": false,
		"meera@bank&am=1": false, "meera@bank\n": false, "मीरा@bank": false, strings.Repeat("m", 257) + "@bank": false,
	} {
		if got := coach.CheckUPIID(text) == ""; got != valid {
			t.Errorf("%q is valid: %t, want %t", text, got, valid)
		}
	}
}

// TestUPIIDNeedsRecentOTP: a change does, and the same value again does not.
func TestUPIIDNeedsRecentOTP(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	id, none := "meera@okbank", ""
	p, err := coach.Profile{}.Apply(coach.Patch{UPIID: &id, RecentOTP: true}, now)
	if err != nil || p.UPIID != id || !p.UPIChangedAt.Equal(now) {
		t.Fatalf("got %+v, %v", p, err)
	}
	if same, changed := p.Events(p), p.Events(coach.Profile{}); len(same) != 0 || len(changed) != 1 || changed[0].Type != event.UPIChanged {
		t.Errorf("events without a change %+v, with one %+v", same, changed)
	}
	if again, err := p.Apply(coach.Patch{UPIID: &id}, now.Add(time.Hour)); err != nil || !again.UPIChangedAt.Equal(now) {
		t.Errorf("the same again: %v, changed at %s", err, again.UPIChangedAt)
	}
	if _, err := p.Apply(coach.Patch{UPIID: &none}, now); fault.CodeOf(err) != "fresh_otp_required" {
		t.Errorf("cleared without a recent OTP: %v, want fresh_otp_required", err)
	}
	if cleared, err := p.Apply(coach.Patch{UPIID: &none, RecentOTP: true}, now); err != nil || cleared.UPIID != "" {
		t.Errorf("cleared: %+v, %v", cleared, err)
	}
}
