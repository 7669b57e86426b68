package bench

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Result is the outcome of a comparison.
type Result struct {
	Options Options
	Series  []Series // one for each contender, in the same order
}

// Series holds the samples of one contender, one for each round.
type Series struct {
	Name   string
	Rounds []Sample
}

// Sample is one turn of one contender.
type Sample struct {
	Operations int           // completed
	Elapsed    time.Duration // of the round
	P50, P99   time.Duration // latency of an operation, measured by the client
	CPU        time.Duration // CPU time of the contender's process in this turn; 0 without a PID

	latencies []time.Duration
}

func (s *Sample) summarise() {
	slices.Sort(s.latencies)
	s.Operations = len(s.latencies)
	s.P50 = s.latencies[s.Operations/2]
	s.P99 = s.latencies[s.Operations*99/100]
	s.latencies = nil
}

// Throughput returns operations per second: higher is better.
func (s Sample) Throughput() float64 { return float64(s.Operations) / s.Elapsed.Seconds() }

// CPUPerOperation returns the CPU time of the contender's process for one operation, 0 without a PID.
// Lower is better.
func (s Sample) CPUPerOperation() time.Duration { return s.CPU / time.Duration(s.Operations) }

// Throughput returns the median of the rounds, in operations per second: higher is better.
func (s Series) Throughput() float64 { return medianOf(s.Rounds, Sample.Throughput) }

// P50 returns the median of the rounds' median latencies: lower is better.
func (s Series) P50() time.Duration {
	return medianOf(s.Rounds, func(r Sample) time.Duration { return r.P50 })
}

// P99 returns the median of the rounds' 99th percentiles: lower is better.
func (s Series) P99() time.Duration {
	return medianOf(s.Rounds, func(r Sample) time.Duration { return r.P99 })
}

// CPUPerOperation returns the median of the rounds: lower is better.
func (s Series) CPUPerOperation() time.Duration { return medianOf(s.Rounds, Sample.CPUPerOperation) }

// Ratio divides the throughput of one contender by the throughput of another within each round and returns the median: higher is better
// for the first. It panics if no contender has that name.
func (r Result) Ratio(of, over string) float64 {
	a, b := r.series(of), r.series(over)
	ratios := make([]float64, len(a.Rounds))
	for i := range ratios {
		ratios[i] = a.Rounds[i].Throughput() / b.Rounds[i].Throughput()
	}
	return median(ratios)
}

func (r Result) series(name string) Series {
	i := slices.IndexFunc(r.Series, func(s Series) bool { return s.Name == name })
	if i < 0 {
		panic("bench: no contender named " + name)
	}
	return r.Series[i]
}

// Write prints a table with one line for each contender: its throughput, its latencies, its CPU time per operation if it was
// measured, and the ratio of its throughput to each contender's above it.
func (r Result) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%d rounds of %s, %d connections\top/s\tp50\tp99\tCPU/op", r.Options.Rounds, r.Options.Round, r.Options.Workers)
	for i := range max(0, len(r.Series)-1) {
		fmt.Fprintf(t, "\tto %s", r.Series[i].Name)
	}
	fmt.Fprintln(t)
	for i, s := range r.Series {
		cpu := "-"
		if d := s.CPUPerOperation(); d > 0 {
			cpu = rounded(d)
		}
		fmt.Fprintf(t, "%s\t%.0f\t%s\t%s\t%s", s.Name, s.Throughput(), rounded(s.P50()), rounded(s.P99()), cpu)
		for j := range i {
			fmt.Fprintf(t, "\t%.2f", r.Ratio(s.Name, r.Series[j].Name))
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t, "op/s and ratios: higher is better; latencies and CPU/op: lower is better")
	return t.Flush()
}

func rounded(d time.Duration) string { return d.Round(time.Microsecond).String() }

func medianOf[T cmp.Ordered](rounds []Sample, of func(Sample) T) T {
	values := make([]T, len(rounds))
	for i, r := range rounds {
		values[i] = of(r)
	}
	return median(values)
}

// median returns the middle value; of two middle values, the upper.
func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
