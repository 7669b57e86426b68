package main

import (
	"testing"
)

// TestSeeds: a club of 60 days breaks no rule, with three seeds. The long form is go run ./simulation -seeds 200.
func TestSeeds(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		if r := Simulate(Config{Seed: seed, Days: 60}); r.Violation != nil {
			t.Errorf("seed %d: %v", seed, r.Violation)
		}
	}
}

// TestSameSeed: the same seed makes the same trace, another seed another one.
func TestSameSeed(t *testing.T) {
	first, second, other := Simulate(Config{Seed: 4, Days: 4}), Simulate(Config{Seed: 4, Days: 4}), Simulate(Config{Seed: 5, Days: 4})
	if first.Hash != second.Hash || first.Hash == other.Hash {
		t.Errorf("hashes: %s, %s; another seed: %s", first.Hash, second.Hash, other.Hash)
	}
}
