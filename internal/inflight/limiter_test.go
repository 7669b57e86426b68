package inflight_test

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/inflight"
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
		l := inflight.New(2, nil)
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
		l := inflight.New(0, noDelay)
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
	l := inflight.New(1, nil)
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
		for range 1200 {
			go s.call(false)
		}
		time.Sleep(time.Second)
		if r := s.results(); r.refused > 0 || r.served != 1200 {
			t.Errorf("served %d, refused %d; want all served", r.served, r.refused)
		}
	})
}

func noDelay() time.Duration { return 0 }

// TestBusyProcessors: while goroutines wait for a processor for longer than a burst, a
// part of the requests is refused although few are in flight, but no urgent one.
func TestBusyProcessors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var delay time.Duration
		l := inflight.New(0, func() time.Duration { return delay })
		// share returns the part of the requests that is refused in a time.
		share := func(length time.Duration, urgent bool) float64 {
			refused, all := 0, int(length/time.Millisecond)
			for range all {
				slot, err := l.Acquire(urgent)
				if err != nil {
					refused++
				}
				slot.Release()
				time.Sleep(time.Millisecond)
			}
			return float64(refused) / float64(all)
		}
		for _, tt := range []struct {
			name            string
			delay, length   time.Duration
			urgent          bool
			atLeast, atMost float64
		}{
			{"calm", 90 * time.Millisecond, time.Second, false, 0, 0},
			{"burst", 300 * time.Millisecond, 500 * time.Millisecond, false, 0, 0},
			{"calm after the burst", 0, 50 * time.Millisecond, false, 0, 0},
			{"overload begins", 300 * time.Millisecond, time.Second, false, .2, .5},
			{"overload", 300 * time.Millisecond, time.Second, false, .65, .71},
			{"urgent", 300 * time.Millisecond, time.Second, true, 0, 0},
			{"overload ends", 0, time.Second, false, .1, .5},
			{"calm again", 0, time.Second, false, 0, 0},
		} {
			delay = tt.delay
			if got := share(tt.length, tt.urgent); got < tt.atLeast || got > tt.atMost {
				t.Errorf("%s: refused %.2f, want %.2f to %.2f", tt.name, got, tt.atLeast, tt.atMost)
			}
		}
	})
}

// TestSchedulerDelay: the delay is small while processors are idle, and grows when many
// goroutines want to run.
func TestSchedulerDelay(t *testing.T) {
	delay := inflight.SchedulerDelay()
	delay()
	time.Sleep(50 * time.Millisecond)
	if d := delay(); d > 20*time.Millisecond {
		t.Logf("idle: %s; the machine is busy", d)
	}
	var done sync.WaitGroup
	for range 200 {
		done.Go(func() {
			for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
				runtime.Gosched()
				for end := time.Now().Add(time.Millisecond); time.Now().Before(end); {
				}
			}
		})
	}
	done.Wait()
	if d := delay(); d < 20*time.Millisecond {
		t.Errorf("200 busy goroutines: delay %s, want at least 20 ms", d)
	}
}

// TestBusyMachine: a process that receives few requests refuses none, however long
// goroutines wait for a processor: other programs keep the processors busy.
func TestBusyMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := inflight.New(0, func() time.Duration { return time.Second })
		for range 500 {
			acquire(t, l, false).Release()
			time.Sleep(10 * time.Millisecond) // 100 requests in a second
		}
	})
}
