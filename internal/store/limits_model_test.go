package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestLimitMatchesModel compares a limit with a plain list of all occurrences.
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

// TestTotalMatchesModel compares a total with a plain list of all occurrences. No window has more
// than Max, and a refusal ends when a whole minute has left the window.
func TestTotalMatchesModel(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		const most, early = 256, 8
		l := limit("a", most, time.Hour)
		l.Total = true
		random := rand.New(rand.NewPCG(1, 2))
		var admitted []time.Time
		within := func(since time.Time) (n int) {
			for _, at := range admitted {
				if at.After(since) {
					n++
				}
			}
			return n
		}
		refusals := 0
		for step := range 900 {
			now := p.clock.Now()
			if random.IntN(20) == 0 {
				ok(p, p.db.SweepAt(bg, now))
			}
			refused, wait := p.occur(l)
			switch {
			case refused == "":
				if admitted = append(admitted, now); within(now.Add(-l.Per)) > most {
					p.Fatalf("step %d: more than %d in an hour", step, most)
				}
				p.clock.advance(time.Duration(random.Int64N(int64(20 * time.Second))).Truncate(time.Microsecond))
			case within(now.Add(-l.Per-time.Minute)) < most-early:
				p.Fatalf("step %d: refused after %d", step, within(now.Add(-l.Per-time.Minute)))
			default:
				refusals++
				p.clock.advance(wait - time.Microsecond)
				if again, _ := p.occur(l); again == "" {
					p.Fatalf("step %d: admitted before the wait of %s", step, wait)
				}
				p.clock.advance(time.Microsecond)
				if again, _ := p.occur(l); again != "" {
					p.Fatalf("step %d: refused after the wait of %s", step, wait)
				}
				admitted = append(admitted, p.clock.Now())
			}
		}
		if refusals < 10 {
			p.Errorf("%d refused, want at least 10", refusals)
		}
	})
}
