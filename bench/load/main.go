// Command load measures the built service over HTTP, on SQLite and on PostgreSQL.
//
//	go -C bench run ./load                                                        operations of this build
//	go -C bench run ./load -programs before=/tmp/a,after=/tmp/b -concurrency 16   compare two builds that take turns
//	go -C bench run ./load -measure overload -duration 10s                        three times the capacity
//	go -C bench run ./load -measure team -duration 10s                            sheets of attendance, sign-ins while a message leaves
//	go -C bench run ./load -measure delivery -duration 30s                        time to the gateway, and the drain of a full outbox
//	go -C bench run ./load -measure replies -rate 167                             10,000 replies by WhatsApp in a minute
//	go -C bench run ./load -measure streams -streams 1000                         cost of open notification streams
//	go -C bench run ./load -measure start -engines sqlite                         start-up time, memory and size
//
// A program compared with itself shows the noise of the machine: ratios other than 1.00.
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
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/program"
)

// measurements are the values of the flag -measure.
var measurements = []string{"operations", "overload", "start", "team", "delivery", "replies", "streams"}

func main() {
	debug.SetGCPercent(400) // less garbage collection of the client on the measured cores
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
		measure     = flags.String("measure", "operations", "measurements: "+strings.Join(measurements, ","))
		programs    = flags.String("programs", "", "built programs to compare, as before=/path/a,after=/path/b; empty builds this module")
		operations  = flags.String("operations", strings.Join(program.Operations, ","), "operations to measure")
		concurrency = flags.Int("concurrency", 8, "concurrent connections")
		duration    = flags.Duration("duration", time.Second, "duration of a turn")
		rounds      = flags.Int("rounds", 5, "turns of each program")
		rate        = flags.Float64("rate", 100, "messages a second, for delivery; replies a second, for replies")
		replies     = flags.Int("replies", 10_000, "replies of families, for replies")
		streams     = flags.Int("streams", 1000, "open notification streams, for streams")
		queued      = flags.Int("queued", 100_000, "messages that wait, for delivery")
		engines     = flags.String("engines", strings.Join(program.Engines, ","), "database engines")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose("measure", *measure, measurements)
	if err != nil {
		return err
	}
	onEngines, err := choose("engines", *engines, program.Engines)
	if err != nil {
		return err
	}
	ops, err := choose("operations", *operations, program.Operations)
	if err != nil {
		return err
	}
	for _, m := range chosen {
		switch m {
		case "operations":
			err = measureOperations(ctx, *programs, ops, onEngines, bench.Options{Rounds: *rounds, Round: *duration, Warmup: *duration / 10, Workers: *concurrency})
		case "overload":
			err = measureOverload(ctx, *programs, onEngines, *duration)
		case "team":
			err = measureTeam(ctx, *programs, onEngines, program.TeamLoad{Marks: 200, Recipients: 1000, Workers: *concurrency, Duration: *duration})
		case "delivery":
			err = measureDelivery(ctx, *programs, onEngines, *rounds, *rate, *duration, *queued)
		case "replies":
			err = measureReplies(ctx, *programs, onEngines, *rate, *replies)
		case "streams":
			err = measureStreams(ctx, *programs, onEngines, *streams)
		case "start":
			err = measureStart(ctx, onEngines)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	return nil
}

// choose splits the value of a flag and returns an error for an item that is not in allowed.
func choose(flag, list string, allowed []string) ([]string, error) {
	items := strings.Split(list, ",")
	for _, item := range items {
		if !slices.Contains(allowed, item) {
			return nil, fmt.Errorf("-%s: no %q; choose from %s", flag, item, strings.Join(allowed, ","))
		}
	}
	return items, nil
}

// eachProgram measures each program on each engine.
func eachProgram(list string, engines []string, measure func(p program.Program, engine string) error) error {
	programs, err := parsePrograms(list)
	if err != nil {
		return err
	}
	for _, engine := range engines {
		for _, p := range programs {
			if err := measure(p, engine); err != nil {
				return fmt.Errorf("%s on %s: %w", p.Name, engine, err)
			}
		}
	}
	return nil
}

func measureOverload(ctx context.Context, list string, engines []string, duration time.Duration) error {
	return eachProgram(list, engines, func(p program.Program, engine string) error {
		result, err := program.MeasureOverload(ctx, p, engine, duration)
		if err == nil {
			fmt.Printf("\noverload of %s on %s: %s\n", p.Name, engine, result)
		}
		return err
	})
}

func measureTeam(ctx context.Context, list string, engines []string, load program.TeamLoad) error {
	return eachProgram(list, engines, func(p program.Program, engine string) error {
		result, err := program.MeasureTeam(ctx, p, engine, load)
		if err == nil {
			fmt.Printf("\nteam of %s on %s: %s\n", p.Name, engine, result)
		}
		return err
	})
}

func measureDelivery(ctx context.Context, list string, engines []string, rounds int, rate float64, duration time.Duration, queued int) error {
	return eachProgram(list, engines, func(p program.Program, engine string) error {
		for range rounds {
			result, err := program.MeasureDelivery(ctx, p, engine, rate, duration, queued, 5*time.Millisecond)
			if err != nil {
				return err
			}
			fmt.Printf("delivery of %s on %s: %s\n", p.Name, engine, result)
		}
		return nil
	})
}

func measureReplies(ctx context.Context, list string, engines []string, rate float64, n int) error {
	return eachProgram(list, engines, func(p program.Program, engine string) error {
		result, err := program.MeasureReplies(ctx, p, engine, rate, n)
		if err == nil {
			fmt.Printf("replies to %s on %s: %s\n", p.Name, engine, result)
		}
		return err
	})
}

func measureStreams(ctx context.Context, list string, engines []string, n int) error {
	return eachProgram(list, engines, func(p program.Program, engine string) error {
		result, err := program.MeasureStreams(ctx, p, engine, n)
		if err == nil {
			fmt.Printf("streams of %s on %s: %s\n", p.Name, engine, result)
		}
		return err
	})
}

func measureStart(ctx context.Context, engines []string) error {
	for _, engine := range engines {
		result, err := program.MeasureFootprint(ctx, engine)
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		fmt.Printf("\nstart on %s: %s\n", engine, result)
	}
	return nil
}
