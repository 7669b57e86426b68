package bench

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// Result is what a comparison found.
type Result struct {
	Options Options
	Series  []Series // one for each contender, in their order
}

// Series is what one contender did, round by round.
type Series struct {
	Name   string
	Rounds []Sample
}

// Sample is what one contender did in one round.
type Sample struct {
	Operations int           // completed
	Elapsed    time.Duration // of the round
	P50, P99   time.Duration // of one operation, as the client saw it
	CPU        time.Duration // of the contender's own process in the whole round; 0 where it has none

	latencies []time.Duration
}

func (s *Sample) summarise() {
	slices.Sort(s.latencies)
	s.Operations = len(s.latencies)
	s.P50 = s.latencies[s.Operations/2]
	s.P99 = s.latencies[s.Operations*99/100]
	s.latencies = nil
}

// Throughput is operations a second.
func (s Sample) Throughput() float64 { return float64(s.Operations) / s.Elapsed.Seconds() }

// CPUPerOperation is the CPU time that one operation cost the contender's process; 0 where it has none of its own.
func (s Sample) CPUPerOperation() time.Duration { return s.CPU / time.Duration(s.Operations) }

// Throughput is the median of the rounds, in operations a second.
func (s Series) Throughput() float64 { return medianOf(s.Rounds, Sample.Throughput) }

// P50 is the median of the rounds' median latencies.
func (s Series) P50() time.Duration {
	return medianOf(s.Rounds, func(r Sample) time.Duration { return r.P50 })
}

// P99 is the median of the rounds' 99th percentiles.
func (s Series) P99() time.Duration {
	return medianOf(s.Rounds, func(r Sample) time.Duration { return r.P99 })
}

// CPUPerOperation is the median of the rounds.
func (s Series) CPUPerOperation() time.Duration { return medianOf(s.Rounds, Sample.CPUPerOperation) }

// Ratio is the throughput of one contender over that of another, by name: the median of the rounds, each compared with the
// other's turn in the same round. It panics if there is no such contender.
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
		panic("bench: no contender is named " + name)
	}
	return r.Series[i]
}

// Write prints a table: a line for each contender, its throughput, latencies, CPU time an operation where that was measured,
// and its ratio to each contender before it.
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

// median is the middle value, the upper of the two middle ones where their number is even.
func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
