package coach_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/coach"
)

func TestValidity(t *testing.T) {
	now := time.Date(2026, 5, 12, 23, 59, 0, 0, time.UTC)
	for expires, want := range map[coach.Date]coach.Validity{
		"": coach.Unlimited, "2026-05-11": coach.Ended, "2026-05-12": coach.EndsSoon, "2026-06-11": coach.EndsSoon, "2026-06-12": coach.Valid,
	} {
		if got := (coach.Document{ExpiresOn: expires}).Validity(now); got != want {
			t.Errorf("%q: got %s, want %s", expires, got, want)
		}
	}
}
