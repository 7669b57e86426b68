package inflight

import (
	"runtime/metrics"
	"time"
)

const (
	// lateTime is how long a goroutine may wait for a processor. After lateGrace it is
	// overload: a burst is over by then.
	lateTime  = 100 * time.Millisecond
	lateGrace = 500 * time.Millisecond
	// busyRate is the least number of requests in a second at which refusing helps. A
	// process that receives fewer is slow because of other programs.
	busyRate = 200
	// sampleTime is how often the wait is read. Each time the part of the requests that
	// is refused grows by shareStep, or shrinks by half of it.
	sampleTime = 50 * time.Millisecond
	shareStep  = 0.1
	// maxShare bounds that part: it is what three times the capacity needs. A refusal
	// takes processor time too, 22 µs where a read takes 90 to 300. If all requests were
	// refused, clients that try again at once could keep the processors busy for ever.
	maxShare = 0.7
)

// processor refuses a part of the requests while goroutines wait for a processor. Such a
// wait comes before a request is read, so the requests in flight do not show it.
type processor struct {
	delay     func() time.Duration
	sampledAt time.Time
	arrived   int           // requests since then
	lateness  time.Duration // of the last sample
	calmAt    time.Time     // the last sample that was not late
	share     float64       // of the requests to refuse
	sum       float64       // of share since the last refusal
}

// refuses reports whether the next request must be refused.
func (p *processor) refuses() bool {
	p.arrived++
	if now := time.Now(); now.Sub(p.sampledAt) >= sampleTime {
		rate := float64(p.arrived) / now.Sub(p.sampledAt).Seconds()
		p.sampledAt, p.arrived, p.lateness = now, 0, p.delay()
		if p.lateness <= lateTime || rate < busyRate {
			p.calmAt = now
			p.share = max(0, p.share-shareStep/2)
		} else if now.Sub(p.calmAt) > lateGrace {
			p.share = min(maxShare, p.share+shareStep)
		}
	}
	if p.sum += p.share; p.sum < 1 {
		return false
	}
	p.sum--
	return true
}

// SchedulerDelay returns a function that returns how late goroutines of this process run:
// nine of ten waited at most this long for a processor since the call before.
func SchedulerDelay() func() time.Duration {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	var before []uint64
	return func() time.Duration {
		metrics.Read(sample)
		all := sample[0].Value.Float64Histogram()
		last := before
		before = append([]uint64(nil), all.Counts...)
		if last == nil {
			return 0
		}
		var total uint64
		for i := range last {
			last[i] = all.Counts[i] - last[i]
			total += last[i]
		}
		late := total / 10
		for i := len(last) - 1; i >= 0 && total > 0; i-- {
			if last[i] > late {
				return time.Duration(all.Buckets[i] * float64(time.Second)) // the lower bound: the last bucket has no upper one
			}
			late -= last[i]
		}
		return 0
	}
}
