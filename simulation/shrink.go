package main

import (
	"fmt"
	"io"
	"maps"
)

// shrink looks for a run with fewer actions that breaks the same rule, and prints its steps. It leaves out ever smaller parts, as delta
// debugging does.
func shrink(c Config, failed Result, out io.Writer) {
	c.Trace = nil
	steps := failed.Steps + 1
	c.Days = (failed.Steps + stepsPerDay) / stepsPerDay
	skip := map[int]bool{}
	fails := func(skip map[int]bool) (Result, bool) {
		c.Skip = skip
		r := Simulate(c)
		return r, r.Violation != nil && r.Violation.Rule == failed.Violation.Rule
	}
	for size := steps / 2; size >= 1; size /= 2 {
		for from := 0; from < steps; from += size {
			try := maps.Clone(skip)
			for i := from; i < min(from+size, steps); i++ {
				try[i] = true
			}
			if len(try) == len(skip) {
				continue
			}
			if r, ok := fails(try); ok {
				skip = try
				if r.Steps+1 < steps {
					steps = r.Steps + 1
					c.Days = (r.Steps + stepsPerDay) / stepsPerDay
				}
			}
		}
	}
	c.Trace = out
	last, _ := fails(skip)
	left := 0
	for i := range last.Steps + 1 {
		if !skip[i] {
			left++
		}
	}
	fmt.Fprintf(out, "%d actions are left\n%v\n", left, last.Violation)
}
