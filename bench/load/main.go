// Command load measures the service and prints ratios.
//
//	go run ./bench/load                                        list the measurements
//	go run ./bench/load -kinds noise                           show how far two equal contenders differ on this machine
//	go run ./bench/load -kinds availability,refresh,decision   compare operations with their baselines, on both engines
//	go run ./bench/load -kinds signin,start -engines sqlite    CPU time of a sign-in; start-up time, memory and size
//	go run ./bench/load -programs before=/tmp/a,after=/tmp/b -concurrency 16   compare two builds, on both engines
//	go run ./bench/load -concurrency 16 -duration 3s -rounds 9 a=http://127.0.0.1:8080/healthz b=http://127.0.0.1:8081/healthz
//
// -programs starts two built programs as servers with separate databases and lets them take turns with sign-in, read,
// refresh, decision and add player over HTTP.
//
// Arguments of the form name=URL are compared with one another by GET; -header adds a header to each request.
//
// PostgreSQL is a throwaway cluster with fsync, or the server that TOUCHLINE_TEST_POSTGRES names.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/program"
)

func main() {
	debug.SetGCPercent(400) // the value of touchline serve
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var (
		flags       = flag.NewFlagSet("load", flag.ContinueOnError)
		names       = flags.String("kinds", "", "measurements, separated by commas, or all")
		programs    = flags.String("programs", "", "two built programs to compare, as before=/path/a,after=/path/b")
		operations  = flags.String("operations", strings.Join(program.Operations, ","), "operations of -programs")
		concurrency = flags.Int("concurrency", 8, "concurrent connections")
		duration    = flags.Duration("duration", time.Second, "duration of a turn")
		rounds      = flags.Int("rounds", 5, "turns of each contender")
		engines     = flags.String("engines", strings.Join(program.Engines, ","), "database engines")
		profile     = flags.String("cpuprofile", "", "write a CPU profile of this process to a file")
		headers     []string
	)
	flags.Func("header", "a header for the URLs, as Name: value; may be repeated", func(h string) error {
		headers = append(headers, h)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	on := strings.Split(*engines, ",")
	for _, engine := range on {
		if !slices.Contains(program.Engines, engine) {
			return fmt.Errorf("no engine %q", engine)
		}
	}
	chosen, err := choose(*names)
	if err != nil {
		return err
	}
	if *programs != "" {
		k, err := programsKind(*programs, *operations)
		if err != nil {
			return err
		}
		chosen = append(chosen, k)
	}
	if flags.NArg() > 0 {
		contenders, err := fromURLs(flags.Args(), headers)
		if err != nil {
			return err
		}
		chosen = append(chosen, kind{name: "URLs", run: compareOnly("URLs", contenders)})
	}
	if len(chosen) == 0 {
		list()
		return nil
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	options := bench.Options{Rounds: *rounds, Round: *duration, Workers: *concurrency}
	for _, k := range chosen {
		if err := k.run(ctx, on, options); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}

func programsKind(programs, operations string) (kind, error) {
	two, err := parsePrograms(programs)
	if err != nil {
		return kind{}, err
	}
	chosen, err := parseOperations(operations)
	return kind{name: "programs", run: func(ctx context.Context, engines []string, o bench.Options) error {
		return comparePrograms(ctx, two, chosen, engines, o)
	}}, err
}

// list prints what can be measured.
func list() {
	fmt.Println("choose measurements with -kinds, two built programs with -programs, or URLs as name=URL:")
	for _, k := range kinds() {
		fmt.Printf("  %-14s %s\n", k.name, k.description)
	}
}

// choose returns the kinds that the flag -kinds names.
func choose(names string) ([]kind, error) {
	if names == "" {
		return nil, nil
	}
	all := kinds()
	if names == "all" {
		return all, nil
	}
	var chosen []kind
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(k kind) bool { return k.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no kind %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
