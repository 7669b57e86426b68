package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestLimitMatchesModel compares a limit with a plain list of all occurrences.
func TestLimitMatchesModel(t *testing.T) {
	for _, variable := range []bool{false, true} {
		t.Run(fmt.Sprint("variable ", variable), func(t *testing.T) { testLimitModel(t, variable) })
	}
}

// testLimitModel changes Max at random if it is variable.
func testLimitModel(t *testing.T, variable bool) {
	eachEngine(t, func(p *fixture) {
		l := limit("a", 4, time.Hour)
		l.VariableMax = variable
		random := rand.New(rand.NewPCG(1, 2))
		var admitted []time.Time
		refusals := 0
		for step := range 400 {
			now := p.clock.Now()
			if variable && random.IntN(5) == 0 {
				l.Max = random.IntN(8) // 0 is no limit
			}
			if random.IntN(10) == 0 {
				ok(p, p.db.SweepAt(bg, now))
			}
			var wait time.Duration
			if n := len(admitted); l.Max > 0 && n >= l.Max {
				wait = max(0, admitted[n-l.Max].Add(l.Per).Sub(now))
			}
			refused, got := p.occur(l)
			if (refused != "") != (wait > 0) || got != wait {
				p.Fatalf("step %d: refused by %q for %s, want a wait of %s", step, refused, got, wait)
			}
			if refused == "" {
				admitted = append(admitted, now)
			} else if refusals++; random.IntN(3) == 0 {
				p.clock.advance(wait - time.Duration(random.IntN(2))*time.Microsecond)
				continue
			}
			p.clock.advance(time.Duration(random.Int64N(int64(30 * time.Minute))).Truncate(time.Microsecond))
		}
		if refusals < 20 || len(admitted) < 100 {
			p.Errorf("%d admitted, %d refused: want at least 100 and 20", len(admitted), refusals)
		}
	})
}
