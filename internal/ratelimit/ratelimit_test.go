package ratelimit_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/touchline/touchline/internal/ratelimit"
)

func TestWall(t *testing.T) {
	w, now := ratelimit.New(60), time.Unix(1e9, 0)
	for i := range 60 {
		if wait := w.Wait("a", now); wait != 0 {
			t.Fatalf("request %d waits %s", i, wait)
		}
	}
	for range 3 { // a refusal does not count
		if wait := w.Wait("a", now); wait <= 0 || wait > time.Second {
			t.Fatalf("one too many waits %s", wait)
		}
	}
	if w.Wait("b", now) != 0 || w.Wait("a", now.Add(time.Second)) != 0 || w.Wait("a", now.Add(time.Second)) == 0 {
		t.Error("addresses are counted apart, and time passes")
	}
	if ratelimit.New(0).Wait("a", now) != 0 {
		t.Error("0 is no limit")
	}
}

func TestWallForgets(t *testing.T) {
	w, now := ratelimit.New(1), time.Unix(1e9, 0)
	w.Wait("busy", now)
	for i := range 100_000 {
		w.Wait(strconv.Itoa(i), now)
		if i%1000 == 0 && w.Wait("busy", now) == 0 {
			t.Fatal("who keeps coming was forgotten")
		}
	}
	if n := w.Remembered(); n > 2*16384 {
		t.Errorf("%d addresses are remembered", n)
	}
}
