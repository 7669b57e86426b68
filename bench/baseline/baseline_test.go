package baseline_test

import (
	"testing"
	"time"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/baseline"
)

// TestBaselinesRunTheStatementsOfTheService fails if an operation makes a statement that its baseline does not run.
func TestBaselinesRunTheStatementsOfTheService(t *testing.T) {
	o := bench.Options{Rounds: 1, Round: 10 * time.Millisecond, Warmup: -1, Workers: 2}
	for _, kind := range baseline.Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			contenders, closeAll, err := kind.Open(t.Context(), "sqlite", o)
			if err != nil {
				t.Fatal(err)
			}
			defer closeAll()
			if _, err := bench.Compare(t.Context(), contenders, o); err != nil {
				t.Error(err)
			}
		})
	}
}
