package notify_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/internal/notify"
)

// Pending wakes are merged: the earliest time counts, and Wake is before any time.
func TestQueueSignal(t *testing.T) {
	t.Parallel()
	first, second := time.Unix(1, 0), time.Unix(2, 0)
	lane := notify.Lane{Channel: notify.SMS, Kind: notify.OTP}
	tests := []struct {
		name  string
		wakes []time.Time
		want  time.Time
	}{
		{"one", []time.Time{second}, second},
		{"in order", []time.Time{first, second}, first},
		{"in reverse order", []time.Time{second, first}, first},
		{"all due", []time.Time{first, {}, second}, time.Time{}},
	}
	for _, tt := range tests {
		s := notify.NewQueueSignal(notify.SMS)
		s.WakeFrom(notify.Lane{Channel: notify.Push, Kind: notify.OTP}, first) // no sender
		for _, from := range tt.wakes {
			s.WakeFrom(lane, from)
		}
		select {
		case got := <-s.Woken(lane):
			if !got.Equal(tt.want) {
				t.Errorf("%s: woken from %s, want %s", tt.name, got, tt.want)
			}
		default:
			t.Errorf("%s: not woken", tt.name)
		}
		select {
		case got := <-s.Woken(lane):
			t.Errorf("%s: woken again from %s", tt.name, got)
		default:
		}
	}
	s := notify.NewQueueSignal(notify.SMS)
	s.WakeFrom(lane, first)
	s.Wake(lane)
	if got := <-s.Woken(lane); !got.IsZero() {
		t.Errorf("woken from %s, want all", got)
	}
}
