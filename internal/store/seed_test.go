package store_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// seedEnv sets the seed of random tests, to repeat a failure.
const seedEnv = "TOUCHLINE_TEST_SEED"

// newSeed returns the seed for a random test: TOUCHLINE_TEST_SEED if set, else a new one. It
// logs the seed if the test fails.
func newSeed(tb testing.TB) uint64 {
	tb.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv(seedEnv); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			tb.Fatalf("%s: %v", seedEnv, err)
		}
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("repeat with %s=%d", seedEnv, seed)
		}
	})
	return seed
}

// newRand returns a source for worker n of a random test with this seed.
func newRand(seed uint64, n int) *rand.Rand { return rand.New(rand.NewPCG(uint64(n), seed)) }
