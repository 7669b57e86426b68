package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestLimitMatchesModel compares a limit, also one with shards, with a plain list of all
// occurrences.
func TestLimitMatchesModel(t *testing.T) {
	t.Parallel()
	for _, most := range []int{4, 50} {
		t.Run(fmt.Sprint(most), func(t *testing.T) { testLimitModel(t, most) })
	}
}

func testLimitModel(t *testing.T, most int) {
	eachEngine(t, func(p *fixture) {
		l := limit("a", most, time.Hour)
		random := rand.New(rand.NewPCG(1, 2))
		var admitted []time.Time
		refusals := 0
		for step := range 160 + 10*most {
			now := p.clock.Now()
			if random.IntN(10) == 0 {
				ok(p, p.db.SweepAt(bg, now))
			}
			var wait time.Duration
			if n := len(admitted); n >= most {
				wait = max(0, admitted[n-most].Add(l.Per).Sub(now))
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
			p.clock.advance(time.Duration(random.Int64N(2 * int64(time.Hour) / int64(most))).Truncate(time.Microsecond))
		}
		if refusals < 20 || len(admitted) < 100 {
			p.Errorf("%d admitted, %d refused: want at least 100 and 20", len(admitted), refusals)
		}
	})
}
