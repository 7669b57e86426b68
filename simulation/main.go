// Command simulation runs the whole service through months of the life of a club: one process, a simulated clock and network, a real
// database, random actions of coaches and families, and random faults. After each step it compares the service with the rules of
// invariants.go. The same seed makes the same run.
//
//	go run ./simulation -seed 7 -days 365
//	go run ./simulation -seeds 200 -days 365     seeds 1 to 200 on all processors, until one fails
//	go run ./simulation -seed 7 -days 365 -shrink
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func main() { os.Exit(command()) }

func command() int {
	c := Config{}
	flag.Uint64Var(&c.Seed, "seed", 1, "the first seed")
	seeds := flag.Uint64("seeds", 1, "how many seeds run, each as a process")
	flag.IntVar(&c.Days, "days", 365, "simulated days")
	flag.StringVar(&c.Database, "database", "", "the URL of an empty PostgreSQL database; without it SQLite in memory")
	flag.BoolVar(&c.Calm, "calm", false, "no faults")
	trace := flag.Bool("trace", false, "print each step")
	shrinks := flag.Bool("shrink", false, "cut a failing run to fewer steps that still fail")
	profile := flag.String("cpuprofile", "", "write a profile of the processor to this file")
	flag.Parse()
	if *seeds > 1 {
		together := runtime.NumCPU()
		if c.Database != "" {
			together = 1 // it is one database
		}
		return runAll(c.Seed, *seeds, together)
	}
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
	// A run does one thing at a time: with a second processor it takes 30 % more processor time.
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	start := time.Now()
	result := Simulate(c)
	fmt.Printf("seed %d: %d days, %d steps, %s, %.1f s\n", c.Seed, c.Days, result.Steps, result.Hash, time.Since(start).Seconds())
	if result.Violation == nil {
		return 0
	}
	fmt.Println(result.Violation)
	if *shrinks {
		shrink(c, result, os.Stdout)
	}
	return 1
}

// runAll runs n seeds, each as a process of this program with the same flags, so many together. After a seed failed, none starts.
func runAll(first, n uint64, together int) int {
	var failed atomic.Bool
	var running sync.WaitGroup
	free := make(chan bool, together)
	for seed := first; seed < first+n; seed++ {
		free <- true
		if failed.Load() {
			break
		}
		running.Go(func() {
			defer func() { <-free }()
			output, err := exec.Command(os.Args[0], append(slices.Clip(os.Args[1:]), "-seeds=1", "-seed="+strconv.FormatUint(seed, 10))...).CombinedOutput()
			_, _ = os.Stdout.Write(output)
			if err != nil {
				fmt.Println(err)
				failed.Store(true)
			}
		})
	}
	running.Wait()
	if failed.Load() {
		return 1
	}
	return 0
}
