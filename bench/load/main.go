// Command load compares operations of the service with bare handlers on the same engine, and prints the ratios.
//
//	go run ./bench/load                                        what there is to compare
//	go run ./bench/load -kinds noise                           how far two equal contenders stray on this machine
//	go run ./bench/load -kinds availability,refresh,decision   the operations, on both engines
//	go run ./bench/load -kinds signin,start -engines sqlite    CPU time of a sign-in; start, memory and size of the program
//	go run ./bench/load -concurrency 16 -duration 3s -rounds 9 a=http://127.0.0.1:8080/healthz b=http://127.0.0.1:8081/healthz
//
// PostgreSQL is a throwaway cluster of the programs found on this machine, whose commits wait for the disk, or the server that
// TOUCHLINE_TEST_POSTGRES names.
//
// Arguments of the form name=URL are compared with one another by GET; -header goes with each of them.
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
	"github.com/touchline/touchline/bench/baseline"
)

func main() {
	// As touchline serve does, for all contenders alike.
	debug.SetGCPercent(400)
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
		names       = flags.String("kinds", "", "what to compare, separated by commas, or all")
		concurrency = flags.Int("concurrency", 8, "connections that ask at the same time")
		duration    = flags.Duration("duration", time.Second, "how long one turn of a contender lasts")
		rounds      = flags.Int("rounds", 5, "turns of each contender")
		engines     = flags.String("engines", strings.Join(baseline.Engines, ","), "on which engines")
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
		if !slices.Contains(baseline.Engines, engine) {
			return fmt.Errorf("there is no engine %q", engine)
		}
	}
	chosen, err := choose(*names)
	if err != nil {
		return err
	}
	if flags.NArg() > 0 {
		contenders, err := fromURLs(flags.Args(), headers)
		if err != nil {
			return err
		}
		chosen = append(chosen, kind{name: "URLs", run: compareOnly("URLs", contenders)})
	}
	if len(chosen) == 0 {
		fmt.Println("name what to compare, with -kinds or as name=URL:")
		for _, k := range kinds() {
			fmt.Printf("  %-14s %s\n", k.name, k.what)
		}
		return nil
	}
	options := bench.Options{Rounds: *rounds, Round: *duration, Workers: *concurrency}
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
	for _, k := range chosen {
		if err := k.run(ctx, on, options); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}

// choose finds kinds by their names.
func choose(names string) ([]kind, error) {
	if names == "" {
		return nil, nil
	}
	if names == "all" {
		return kinds(), nil
	}
	var chosen []kind
	for name := range strings.SplitSeq(names, ",") {
		all := kinds()
		i := slices.IndexFunc(all, func(k kind) bool { return k.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no kind %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
