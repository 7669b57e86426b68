package store_test

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A limit lets through, refuses and waits exactly as a list of all occurrences
// would have it.
func TestLimitAgainstAModel(t *testing.T) {
	onPitch(t, func(p *pitch) {
		l := limit("a", 4, time.Hour)
		random := rand.New(rand.NewPCG(1, 2))
		var passed []time.Time
		refusals := 0
		for step := range 400 {
			now := p.clock.Now()
			var wait time.Duration
			if n := len(passed); n >= l.Max {
				wait = max(0, passed[n-l.Max].Add(l.Per).Sub(now))
			}
			refused, got := p.take(l)
			if (refused != "") != (wait > 0) || got != wait {
				p.Fatalf("step %d: refused by %q for %s, want a wait of %s", step, refused, got, wait)
			}
			if refused == "" {
				passed = append(passed, now)
			} else if refusals++; random.IntN(3) == 0 {
				p.clock.advance(wait - time.Duration(random.IntN(2))*time.Microsecond)
				continue
			}
			p.clock.advance(time.Duration(random.Int64N(int64(30 * time.Minute))).Truncate(time.Microsecond))
		}
		if refusals < 20 || len(passed) < 100 {
			p.Errorf("%d passed, %d refused: too few to prove anything", len(passed), refusals)
		}
	})
}
