package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// A limit lets through, refuses and waits exactly as a list of all occurrences
// would have it.
func TestLimitAgainstAModel(t *testing.T) {
	for _, numbered := range []bool{false, true} {
		t.Run(fmt.Sprint("numbered ", numbered), func(t *testing.T) { againstAModel(t, numbered) })
	}
}

// againstAModel lets the greatest number of a numbered limit change all the time.
func againstAModel(t *testing.T, numbered bool) {
	onPitch(t, func(p *pitch) {
		l := limit("a", 4, time.Hour)
		l.VariableMax = numbered
		random := rand.New(rand.NewPCG(1, 2))
		var passed []time.Time
		refusals := 0
		for step := range 400 {
			now := p.clock.Now()
			if numbered && random.IntN(5) == 0 {
				l.Max = random.IntN(8) // 0 is no limit
			}
			if random.IntN(10) == 0 {
				ok(p, p.db.SweepAt(bg, now))
			}
			var wait time.Duration
			if n := len(passed); l.Max > 0 && n >= l.Max {
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
