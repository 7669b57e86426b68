// Command simulation runs the whole service through months of the life of a club: one process, a simulated clock and network, a real
// database, random actions of coaches and families, and random faults. After each step it compares the service with the rules of
// invariants.go. The same seed makes the same run.
//
//	go run ./simulation -seed 7 -days 365
//	go run ./simulation -seeds 200 -days 365     seeds 1 to 200, until one fails
//	go run ./simulation -seed 7 -days 365 -shrink
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"time"
)

func main() { os.Exit(command()) }

func command() int {
	c := Config{}
	flag.Uint64Var(&c.Seed, "seed", 1, "the first seed")
	seeds := flag.Uint64("seeds", 1, "how many seeds run, one after the other")
	flag.IntVar(&c.Days, "days", 365, "simulated days")
	flag.StringVar(&c.Database, "database", "", "the URL of an empty PostgreSQL database; without it SQLite in memory")
	flag.BoolVar(&c.Calm, "calm", false, "no faults")
	trace := flag.Bool("trace", false, "print each step")
	shrinks := flag.Bool("shrink", false, "cut a failing run to fewer steps that still fail")
	profile := flag.String("cpuprofile", "", "write a profile of the processor to this file")
	flag.Parse()
	if *trace {
		c.Trace = os.Stdout
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil || pprof.StartCPUProfile(f) != nil {
			fmt.Fprintln(os.Stderr, "simulation: the profile cannot be written:", err)
			return 2
		}
		defer pprof.StopCPUProfile()
	}
	for last := c.Seed + *seeds; c.Seed < last; c.Seed++ {
		start := time.Now()
		result := Simulate(c)
		fmt.Printf("seed %d: %d days, %d steps, %s, %.1f s\n", c.Seed, c.Days, result.Steps, result.Hash, time.Since(start).Seconds())
		if result.Violation == nil {
			continue
		}
		fmt.Println(result.Violation)
		if *shrinks {
			shrink(c, result, os.Stdout)
		}
		return 1
	}
	return 0
}
