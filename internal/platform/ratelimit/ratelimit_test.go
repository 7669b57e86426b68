package ratelimit_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/platform/ratelimit"
)

func TestLimiter(t *testing.T) {
	l, now := ratelimit.New(60), time.Unix(1e9, 0)
	for i := range 60 {
		if wait := l.Wait("a", now); wait != 0 {
			t.Fatalf("request %d: must wait %s, want 0", i, wait)
		}
	}
	for range 3 { // a refused request does not count
		if wait := l.Wait("a", now); wait <= 0 || wait > time.Second {
			t.Fatalf("request 61: must wait %s, want up to 1 s", wait)
		}
	}
	if l.Wait("b", now) != 0 {
		t.Error("the requests of a count for b")
	}
	if l.Wait("a", now.Add(time.Second)) != 0 || l.Wait("a", now.Add(time.Second)) == 0 {
		t.Error("after one second: want exactly one more request")
	}
	if ratelimit.New(0).Wait("a", now) != 0 {
		t.Error("New(0) limits requests")
	}
}

// TestLimiterForgetsAddresses: the number of addresses is bounded, and an address that
// keeps sending requests is not forgotten.
func TestLimiterForgetsAddresses(t *testing.T) {
	l, now := ratelimit.New(1), time.Unix(1e9, 0)
	l.Wait("busy", now)
	for i := range 100_000 {
		l.Wait(strconv.Itoa(i), now)
		if i%1000 == 0 && l.Wait("busy", now) == 0 {
			t.Fatal("the limiter forgot a busy address")
		}
	}
	if n := l.Len(); n > 2*16384 {
		t.Errorf("the limiter holds %d addresses, want at most 32768", n)
	}
}
