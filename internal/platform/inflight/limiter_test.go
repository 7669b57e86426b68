package inflight_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/platform/inflight"
)

// acquire returns a slot or fails the test.
func acquire(t *testing.T, l *inflight.Limiter, urgent bool) *inflight.Slot {
	t.Helper()
	slot, err := l.Acquire(urgent)
	if err != nil {
		t.Fatalf("Acquire(%t): %v", urgent, err)
	}
	return &slot
}

// wantRefused fails the test unless a request is refused after this time.
func wantRefused(t *testing.T, l *inflight.Limiter, urgent bool, after time.Duration) {
	t.Helper()
	start := time.Now()
	_, err := l.Acquire(urgent)
	if took := time.Since(start); fault.CodeOf(err) != "overloaded" || took != after {
		t.Errorf("Acquire(%t): got %v after %s, want overloaded after %s", urgent, err, took, after)
	}
}

func TestFixedLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := inflight.New(2)
		first, second := acquire(t, l, false), acquire(t, l, false)
		wantRefused(t, l, false, 0)
		wantRefused(t, l, true, time.Second)
		first.Release()
		first.Release() // counts once
		third := acquire(t, l, false)
		wantRefused(t, l, false, 0)
		second.Release()
		third.Release()
		if got, want := l.Stats(), (inflight.Stats{Limit: 2, Refused: 3}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
}

// TestUrgentRequestsFirst: an urgent request waits for a slot, and gets it before
// requests that have waited for longer.
func TestUrgentRequestsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := inflight.New(0)
		var running []*inflight.Slot
		for range l.Stats().Limit {
			running = append(running, acquire(t, l, false))
		}
		order := make(chan string, 2)
		wait := func(name string, urgent bool) {
			go func() {
				slot := acquire(t, l, urgent)
				order <- name
				time.Sleep(time.Millisecond)
				slot.Release()
			}()
			synctest.Wait()
		}
		wait("read", false)
		wait("decision", true)
		if s := l.Stats(); s.Waiting != 2 || s.Running != s.Limit {
			t.Fatalf("got %+v, want 2 waiting", s)
		}
		running[0].Release()
		if first, second := <-order, <-order; first != "decision" || second != "read" {
			t.Errorf("admitted %s, then %s; want the decision first", first, second)
		}
		time.Sleep(time.Second) // the second slot is released
	})
}

// TestReenter: a request that paused continues although the limit is reached.
func TestReenter(t *testing.T) {
	l := inflight.New(1)
	paused := acquire(t, l, false)
	paused.Release()
	acquire(t, l, false)
	again := l.Reenter()
	if s := l.Stats(); s.Running != 2 {
		t.Errorf("got %d running, want 2", s.Running)
	}
	again.Release()
}

func TestNoLimiter(t *testing.T) {
	var l *inflight.Limiter
	acquire(t, l, false).Release()
	again := l.Reenter()
	again.Release()
}

// TestBurst: many requests at once are all served, although they are more than the limit.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(2000)
		for range 900 {
			go s.call(false)
		}
		time.Sleep(time.Second)
		if r := s.results(); r.refused > 0 || r.served != 900 {
			t.Errorf("served %d, refused %d; want all served", r.served, r.refused)
		}
	})
}

// TestReadsAndWrites: writes that fill their limit leave reads alone.
func TestReadsAndWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := inflight.NewLimits(1)
		acquire(t, l.For("POST"), false)
		wantRefused(t, l.For("PUT"), false, 0)
		acquire(t, l.For("GET"), false)
		wantRefused(t, l.For("HEAD"), false, 0)
	})
	var none *inflight.Limits
	for range 2 {
		acquire(t, none.For("GET"), false)
	}
}
