package inflight_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/touchline/touchline/internal/platform/inflight"
)

// system is a simulated service, which completes a number of requests per second one
// after the other, behind a limiter.
type system struct {
	limiter *inflight.Limiter

	mu        sync.Mutex
	perSecond int
	free      time.Time       // when it has completed all requests so far
	latencies []time.Duration // of the requests served
	waits     []time.Duration // of the requests refused, until the refusal
	refused   int
	urgent    int // refused urgent requests
}

func newSystem(perSecond int) *system {
	return &system{limiter: inflight.New(0), perSecond: perSecond}
}

// call sends one request.
func (s *system) call(urgent bool) {
	start := time.Now()
	slot, err := s.limiter.Acquire(urgent)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.refused++
		s.waits = append(s.waits, time.Since(start))
		if urgent {
			s.urgent++
		}
		return
	}
	defer slot.Release()
	s.mu.Lock()
	if now := time.Now(); s.free.Before(now) {
		s.free = now
	}
	s.free = s.free.Add(time.Second / time.Duration(s.perSecond))
	end := s.free
	s.mu.Unlock()
	time.Sleep(time.Until(end))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latencies = append(s.latencies, time.Since(start))
}

// load sends perSecond requests for a time; one in urgentShare is urgent.
func (s *system) load(perSecond, urgentShare int, length time.Duration) {
	gap := time.Second / time.Duration(perSecond)
	for n := range int(length / gap) {
		go s.call(n%urgentShare == 0)
		time.Sleep(gap)
	}
}

// results are the calls that have ended.
type results struct {
	served, refused, urgent int
	p99                     time.Duration // of the requests served
	wait                    time.Duration // median until a refusal
}

func (s *system) results() results {
	s.mu.Lock()
	defer s.mu.Unlock()
	return results{len(s.latencies), s.refused, s.urgent, quantile(s.latencies, .99), quantile(s.waits, .5)}
}

// forget removes the results so far and changes the capacity.
func (s *system) forget(perSecond int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latencies, s.waits, s.refused, s.urgent, s.perSecond = nil, nil, 0, 0, perSecond
}

func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(q*float64(len(all))))]
}

// TestOverload: at three times the capacity of a fast and of a slow system, the served
// requests use the capacity and are fast, most others are refused at once, and urgent
// ones are served. Two seconds later no request is refused.
func TestOverload(t *testing.T) {
	const length = 10 * time.Second
	for _, capacity := range []int{300, 1000, 5000} {
		synctest.Test(t, func(t *testing.T) {
			s := newSystem(capacity)
			s.load(3*capacity, 20, length)
			want := capacity * int(length/time.Second)
			if r := s.results(); r.served*10 < want*8 || r.p99 > time.Second || r.wait > 60*time.Millisecond || r.urgent > 0 {
				t.Errorf("%d/s: got %+v, want %d served, p99 within 1 s, refused within 60 ms, none urgent", capacity, r, want)
			}
			s.load(capacity/2, 20, 2*time.Second)
			s.forget(capacity)
			s.load(capacity/2, 20, 5*time.Second)
			if r := s.results(); r.refused > 0 {
				t.Errorf("%d/s: refused %d requests after the overload", capacity, r.refused)
			}
			time.Sleep(time.Minute)
		})
	}
}

// TestCapacityDrops: when the system becomes slower by far, requests are fast again
// soon, and the limit rises again afterwards.
func TestCapacityDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(5000)
		s.load(4500, 20, 2*time.Second)
		if r := s.results(); r.refused > 0 {
			t.Errorf("refused %d requests below the capacity", r.refused)
		}
		s.forget(200)
		s.load(1000, 20, 3*time.Second)
		s.forget(200)
		s.load(1000, 20, 10*time.Second)
		if r := s.results(); r.p99 > time.Second || r.served < 1600 || r.urgent > 0 {
			t.Errorf("got %+v, want at least 1600 served, p99 within a second, no urgent one refused", r)
		}
		low := s.limiter.Stats().Limit
		s.forget(5000)
		s.load(1000, 20, 3*time.Second)
		if limit := s.limiter.Stats().Limit; low > 90 || limit < 60 {
			t.Errorf("limit %d, then %d; want a low limit, then a high one", low, limit)
		}
		time.Sleep(time.Minute)
	})
}

// TestStalledSystem: while no request ends, the number in flight stays within the limit
// and others are refused; afterwards the service recovers.
func TestStalledSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSystem(1000)
		s.free = time.Now().Add(5 * time.Second)
		s.load(1000, 20, 5*time.Second)
		if running := s.limiter.Stats().Running; running > 64 {
			t.Errorf("%d requests in flight, want at most 64", running)
		}
		s.load(500, 20, 2*time.Second)
		s.forget(1000)
		s.load(500, 20, 3*time.Second)
		if r := s.results(); r.refused > 0 {
			t.Errorf("refused %d requests after the stall", r.refused)
		}
		time.Sleep(time.Minute)
	})
}
