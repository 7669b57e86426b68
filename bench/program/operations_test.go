package program_test

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/program"
)

// TestPairComparesEveryOperation runs each operation for a moment, so that a change of the API shows here and not when
// a developer measures.
func TestPairComparesEveryOperation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "touchline")
	// With the flags of program.Build, go build would compile every package a second time.
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../..", "-ldflags=-s -w", "-o", path, "./cmd/touchline").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o := bench.Options{Rounds: 1, Round: 20 * time.Millisecond, Workers: 2}
	programs := []program.Program{{Name: "before", Path: path}, {Name: "after", Path: path}}
	group, err := program.NewGroup(t.Context(), programs, "sqlite", o.Workers)
	if err != nil {
		t.Fatal(err)
	}
	defer group.Close()
	for _, operation := range program.Operations {
		result, err := group.Compare(t.Context(), operation, o)
		if err != nil {
			t.Errorf("%s: %v", operation, err)
			continue
		}
		if ratio := result.Ratio("after", "before"); ratio <= 0 {
			t.Errorf("%s: ratio = %g, want above 0", operation, ratio)
		}
	}
	if _, err := group.Compare(t.Context(), "unknown", o); err == nil {
		t.Error("an unknown operation returned no error")
	}
	team, err := program.MeasureTeam(t.Context(), programs[0], "sqlite", program.TeamLoad{Marks: 5, Recipients: 30, Workers: 2, Duration: 20 * time.Millisecond})
	if err != nil || len(team.NewSheets) == 0 || len(team.ChangedSheets) == 0 || len(team.Meanwhile) == 0 || len(team.Left) != 2 {
		t.Errorf("the team load: %s, %v", team, err)
	}
}

func TestLatenciesP(t *testing.T) {
	ten := make(program.Latencies, 10)
	for i := range ten {
		ten[i] = time.Duration(i+1) * time.Millisecond
	}
	for _, c := range []struct {
		latencies program.Latencies
		share     float64
		want      time.Duration
	}{
		{ten, 0, time.Millisecond},
		{ten, 0.5, 5 * time.Millisecond},
		{ten, 0.99, 10 * time.Millisecond},
		{ten, 1, 10 * time.Millisecond},
		{nil, 0.99, 0},
	} {
		if got := c.latencies.P(c.share); got != c.want {
			t.Errorf("P(%g) of %d = %s, want %s", c.share, len(c.latencies), got, c.want)
		}
	}
}
