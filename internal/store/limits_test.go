package store_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/store"
	"github.com/touchline/touchline/internal/store/storetest"
)

func limit(key string, most int, per time.Duration) auth.Limit {
	return auth.Limit{Name: key, Key: key, Max: most, Per: per}
}

// occur counts one occurrence. It returns the limit that refused it, or "", and the wait.
func (p *fixture) occur(limits ...auth.Limit) (refused string, wait time.Duration) {
	p.Helper()
	limited, err := countOccurrence(bg, p.db, limits...)
	ok(p, err)
	if limited == nil {
		return "", 0
	}
	return limited.Name, limited.Wait
}

// TestLimitIsExactUnderConcurrency sends 100 concurrent occurrences from two replicas:
// a limit of three admits exactly three.
func TestLimitIsExactUnderConcurrency(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		other := store.New(openDatabase(t, url, database.Options{Now: p.clock.Now, MaxConns: 2}), store.Options{})
		replicas := []*store.DB{p.db, other}
		var admitted atomic.Int32
		for _, err := range concurrently(100, func(i int) error {
			limited, err := countOccurrence(bg, replicas[i%2], limit("a", 3, time.Hour), limit("b", 1000, time.Hour))
			if err == nil && limited == nil {
				admitted.Add(1)
			} else if err == nil && (limited.Name != "a" || limited.Wait != time.Hour) {
				p.Errorf("refused by %s for %s", limited.Name, limited.Wait)
			}
			return err
		}) {
			ok(p, err)
		}
		if n := admitted.Load(); n != 3 {
			p.Errorf("%d admitted, want 3", n)
		}
		// The refused occurrences do not count against the other limit.
		for i := range 997 {
			if refused, _ := p.occur(limit("b", 1000, time.Hour)); refused != "" {
				p.Fatalf("refused occurrence %d, want 1000 admitted", 3+i)
			}
		}
		if refused, _ := p.occur(limit("b", 1000, time.Hour)); refused != "b" {
			p.Error("more than 1000 admitted")
		}
	})
}

// TestTotalUnderConcurrency: of 300 concurrent occurrences from two replicas, a total of 256
// admits at most 256, and at most 8 less.
func TestTotalUnderConcurrency(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, url string) {
		p := newFixture(t, url)
		other := store.New(openDatabase(t, url, database.Options{Now: p.clock.Now, MaxConns: 6}), store.Options{})
		replicas := []*store.DB{p.db, other}
		total := limit("total", 256, time.Hour)
		total.Total = true
		var admitted atomic.Int32
		for _, err := range concurrently(300, func(i int) error {
			limited, err := countOccurrence(bg, replicas[i%2], total)
			if err == nil && limited == nil {
				admitted.Add(1)
			} else if err == nil && (limited.Wait <= time.Hour-time.Minute || limited.Wait > time.Hour+time.Minute) {
				p.Errorf("refused for %s", limited.Wait)
			}
			return err
		}) {
			ok(p, err)
		}
		if n := admitted.Load(); n < 248 || n > 256 {
			p.Errorf("%d admitted, want 248 to 256", n)
		}
		checked := total
		checked.CheckOnly = true
		if refused, _ := p.occur(checked); refused != "total" {
			p.Error("a check of the spent total was admitted")
		}
	})
}

// TestLimitWindow checks that the window slides and that the wait is exact.
func TestLimitWindow(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		l := limit("a", 4, time.Hour)
		want := func(refused string, wait time.Duration) {
			p.Helper()
			if gotName, gotWait := p.occur(l); gotName != refused || gotWait != wait {
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
		want("", 0) // at 1:00, when 0:00 has left the window
		want("a", 30*time.Minute)
		p.clock.advance(30 * time.Minute)
		for range 3 { // at 1:30
			want("", 0)
		}
		want("a", 30*time.Minute)
		p.clock.advance(24 * time.Hour) // after a long pause, still Max
		for range 4 {
			want("", 0)
		}
		want("a", time.Hour)
	})
}

// TestLimitsCountAllOrNone checks that a refused occurrence counts against no limit, and
// that the longest wait is returned.
func TestLimitsCountAllOrNone(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		a, b, c := limit("a", 1, time.Minute), limit("b", 2, time.Hour), limit("c", 2, time.Hour)
		if refused, _ := p.occur(a, b, c); refused != "" {
			p.Fatalf("refused by %s", refused)
		}
		for range 20 {
			if refused, wait := p.occur(a, b, c); refused != "a" || wait != time.Minute {
				p.Fatalf("refused by %q for %s", refused, wait)
			}
		}
		p.clock.advance(time.Minute)
		if refused, _ := p.occur(a, b, c); refused != "" {
			p.Fatalf("refused by %q: a refused occurrence was counted", refused)
		}
		if refused, wait := p.occur(a, b); refused != "b" || wait != 59*time.Minute {
			p.Errorf("refused by %q for %s, want b for 59m, the longer wait", refused, wait)
		}
		p.clock.advance(59 * time.Minute)
		if refused, _ := p.occur(c); refused != "" {
			p.Errorf("refused by %q", refused)
		}
		if refused, wait := p.occur(limit("none", 1, time.Second)); refused != "" || wait != 0 {
			p.Errorf("a new limit refused for %s", wait)
		}
		if refused, _ := p.occur(); refused != "" {
			p.Errorf("refused by %q without a limit", refused)
		}
	})
}

// TestCheckOnlyLimit checks that a limit with CheckOnly refuses, but does not count.
func TestCheckOnlyLimit(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		counted := limit("a", 2, time.Hour)
		checked := counted
		checked.CheckOnly = true
		for i := range 2 {
			for range 5 {
				if refused, _ := p.occur(limit("b", 100, time.Hour), checked); refused != "" {
					p.Fatalf("refused by %s after %d occurrences", refused, i)
				}
			}
			if refused, _ := p.occur(counted); refused != "" {
				p.Fatalf("occurrence %d refused by %s", i+1, refused)
			}
		}
		p.clock.advance(20 * time.Minute)
		for range 2 {
			if refused, wait := p.occur(limit("b", 100, time.Hour), checked); refused != "a" || wait != 40*time.Minute {
				p.Fatalf("refused by %q for %s, want a for 40m", refused, wait)
			}
		}
		p.clock.advance(40 * time.Minute)
		if refused, _ := p.occur(checked, limit("b", 100, time.Hour)); refused != "" {
			p.Errorf("refused by %s after the window", refused)
		}
	})
}

// TestSweepRemovesIdleLimits checks that Sweep removes limits whose windows are empty,
// and no others.
func TestSweepRemovesIdleLimits(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(p *fixture) {
		used, idle := limit("used", 2, time.Hour), limit("idle", 2, time.Minute)
		p.occur(used)
		p.occur(used)
		p.occur(idle)
		p.clock.advance(10 * time.Minute)
		ok(p, p.db.SweepAt(bg, p.clock.Now()))
		if n, err := p.db.CountLimits(bg); err != nil || n != 1 {
			p.Errorf("%d limits are left, %v, want 1", n, err)
		}
		if refused, wait := p.occur(used); refused != "used" || wait != 50*time.Minute {
			p.Errorf("refused by %q for %s", refused, wait)
		}
	})
}

// TestLimitUpdatesAreHeapOnly: on PostgreSQL almost every count of a limit is a heap-only
// (HOT) update, which writes no index. It is not parallel: while transactions of other tests
// run, PostgreSQL keeps old row versions, which fill the page.
func TestLimitUpdatesAreHeapOnly(t *testing.T) {
	p := newFixture(t, storetest.Postgres(t))
	l := limit("a", 1000, time.Hour)
	const counts = 1001
	for range counts {
		p.clock.advance(10 * time.Millisecond)
		p.occur(l)
	}
	const want = counts - 1 // the first is an insert
	var updates, heapOnly int
	for range 1000 {
		// The statistics of a connection arrive later.
		ok(t, run(p.db, `SELECT pg_stat_force_next_flush()`))
		ok(t, p.db.QueryRow(bg, `SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'limits'`).Scan(&updates, &heapOnly))
		if updates >= want {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if updates < want || heapOnly < updates*9/10 {
		t.Errorf("%d of %d updates were heap-only, want nine tenths of %d", heapOnly, updates, want)
	}
}

// errRefused rolls back an occurrence that a limit refuses.
var errRefused = errors.New("refused")

// countOccurrence counts one occurrence against limits in its own transaction.
func countOccurrence(ctx context.Context, db *store.DB, limits ...auth.Limit) (exceeded *auth.LimitExceeded, err error) {
	err = db.Write(ctx, func(tx *store.Tx) error {
		if exceeded, err = auth.CountOccurrence(ctx, tx, tx.Now, limits); err == nil && exceeded != nil {
			return errRefused
		}
		return err
	})
	if errors.Is(err, errRefused) {
		err = nil
	}
	return exceeded, err
}
