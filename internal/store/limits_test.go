package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/storetest"
)

func limit(key string, most int, per time.Duration) auth.Limit {
	return auth.Limit{Name: key, Key: key, Max: most, Per: per}
}

// take counts once and returns which limit refused and for how long; "" is none.
func (p *pitch) take(limits ...auth.Limit) (refused string, wait time.Duration) {
	p.Helper()
	limited, err := p.db.Take(bg, limits...)
	ok(p, err)
	if limited == nil {
		return "", 0
	}
	return limited.Name, limited.Wait
}

// Of four hundred rivals on two replicas exactly three pass a limit of three.
func TestLimitUnderRivals(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		t.Parallel()
		p := newPitch(t, url)
		other := store.New(openDatabase(t, url, database.Options{Now: p.clock.Now, MaxConns: 2}), store.Options{})
		replicas := []*store.DB{p.db, other}
		var passed atomic.Int32
		for _, err := range rivals(400, func(i int) error {
			limited, err := replicas[i%2].Take(bg, limit("a", 3, time.Hour), limit("b", 1000, time.Hour))
			if err == nil && limited == nil {
				passed.Add(1)
			} else if err == nil && (limited.Name != "a" || limited.Wait != time.Hour) {
				p.Errorf("refused by %s for %s", limited.Name, limited.Wait)
			}
			return err
		}) {
			ok(p, err)
		}
		if n := passed.Load(); n != 3 {
			p.Errorf("%d passed, want 3", n)
		}
		// What the other limit counted of those refused was given back.
		for i := range 997 {
			if refused, _ := p.take(limit("b", 1000, time.Hour)); refused != "" {
				p.Fatalf("refused after %d", 3+i)
			}
		}
		if refused, _ := p.take(limit("b", 1000, time.Hour)); refused != "b" {
			p.Error("more than a thousand passed")
		}
	})
}

// In no window are there more than Max, wherever it begins, and the wait is exact.
func TestLimitWindow(t *testing.T) {
	onPitch(t, func(p *pitch) {
		l := limit("a", 4, time.Hour)
		want := func(refused string, wait time.Duration) {
			p.Helper()
			if gotName, gotWait := p.take(l); gotName != refused || gotWait != wait {
				p.Fatalf("refused by %q for %s, want %q for %s", gotName, gotWait, refused, wait)
			}
		}
		want("", 0) // at 0:00
		p.clock.advance(30 * time.Minute)
		for range 3 { // at 0:30
			want("", 0)
		}
		want("a", 30*time.Minute)
		p.clock.advance(30*time.Minute - time.Microsecond)
		want("a", time.Microsecond)
		p.clock.advance(time.Microsecond)
		want("", 0) // at 1:00, when the one of 0:00 has left the window
		want("a", 30*time.Minute)
		p.clock.advance(30 * time.Minute)
		for range 3 { // at 1:30
			want("", 0)
		}
		want("a", 30*time.Minute)
		p.clock.advance(24 * time.Hour) // a long rest saves no more than Max
		for range 4 {
			want("", 0)
		}
		want("a", time.Hour)
	})
}

// Where one limit refuses none counts, and the longest wait is answered.
func TestLimitsAllOrNone(t *testing.T) {
	onPitch(t, func(p *pitch) {
		a, b, c := limit("a", 1, time.Minute), limit("b", 2, time.Hour), limit("c", 2, time.Hour)
		if refused, _ := p.take(a, b, c); refused != "" {
			p.Fatalf("refused by %s", refused)
		}
		for range 20 {
			if refused, wait := p.take(a, b, c); refused != "a" || wait != time.Minute {
				p.Fatalf("refused by %q for %s", refused, wait)
			}
		}
		p.clock.advance(time.Minute)
		if refused, _ := p.take(a, b, c); refused != "" {
			p.Fatalf("refused by %q: what was refused has counted", refused)
		}
		if refused, wait := p.take(a, b); refused != "b" || wait != 59*time.Minute {
			p.Errorf("refused by %q for %s, want the longer wait of b", refused, wait)
		}
		p.clock.advance(59 * time.Minute)
		if refused, _ := p.take(c); refused != "" {
			p.Errorf("refused by %q", refused)
		}
		if refused, wait := p.take(limit("none", 1, time.Second)); refused != "" || wait != 0 {
			p.Errorf("a fresh limit refused for %s", wait)
		}
		if refused, _ := p.take(); refused != "" {
			p.Errorf("no limit at all refused as %q", refused)
		}
	})
}

// The sweep takes limits that no longer bind, and no other.
func TestSweepLeavesLimits(t *testing.T) {
	onPitch(t, func(p *pitch) {
		used, resting := limit("used", 2, time.Hour), limit("resting", 2, time.Minute)
		p.take(used)
		p.take(used)
		p.take(resting)
		p.clock.advance(10 * time.Minute)
		ok(p, p.db.SweepAt(bg, p.clock.Now()))
		if n, err := p.db.CountLimits(bg); err != nil || n != 1 {
			p.Errorf("%d limits are left, want the used one: %v", n, err)
		}
		if refused, wait := p.take(used); refused != "used" || wait != 50*time.Minute {
			p.Errorf("refused by %q for %s", refused, wait)
		}
	})
}
