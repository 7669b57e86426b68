package wire_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/wire"
)

func TestTimes(t *testing.T) {
	at := time.Date(2026, 3, 2, 14, 45, 0, 120_000, time.FixedZone("IST", 5*3600+1800))
	if got := wire.Timestamp(at); got != "2026-03-02T09:15:00.00012Z" {
		t.Errorf("got %s", got)
	}
	if got := wire.TimestampOrNull(time.Time{}); got != nil {
		t.Errorf("got %s for the zero time, want nil", *got)
	}
	for d, want := range map[time.Duration][2]int{-time.Second: {0, -1}, 0: {0, 0}, 1500 * time.Millisecond: {1, 2}, 2 * time.Second: {2, 2}} {
		if floor, ceil := wire.Seconds(d), wire.CeilSeconds(d); floor != want[0] || ceil != want[1] {
			t.Errorf("%s: got %d and %d, want %v", d, floor, ceil, want)
		}
	}
}
