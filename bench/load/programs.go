package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/program"
)

// parsePrograms reads the flag -programs: before=/path/a,after=/path/b.
func parsePrograms(list string) ([]program.Program, error) {
	var programs []program.Program
	for item := range strings.SplitSeq(list, ",") {
		name, path, ok := strings.Cut(item, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("-programs: %q is not name=path", item)
		}
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("-programs: %w", err)
		}
		programs = append(programs, program.Program{Name: name, Path: path})
	}
	if len(programs) != 2 || programs[0].Name == programs[1].Name {
		return nil, fmt.Errorf("-programs: want two programs with different names, got %q", list)
	}
	return programs, nil
}

// parseOperations reads the flag -operations.
func parseOperations(list string) ([]string, error) {
	operations := strings.Split(list, ",")
	for _, operation := range operations {
		if !slices.Contains(program.Operations, operation) {
			return nil, fmt.Errorf("-operations: no operation %q; choose from %s", operation, strings.Join(program.Operations, ","))
		}
	}
	return operations, nil
}

// comparePrograms measures the operations on both programs and prints a table for each operation and a summary.
func comparePrograms(ctx context.Context, programs []program.Program, operations, engines []string, o bench.Options) error {
	before, after := programs[0].Name, programs[1].Name
	var summary strings.Builder
	t := tabwriter.NewWriter(&summary, 0, 0, 1, ' ', 0)
	fmt.Fprintf(t, "| operation\t| engine\t| %s, op/s\t| %s, op/s\t| %s / %s\t|\n", before, after, after, before)
	fmt.Fprintf(t, "|---\t|---\t|---\t|---\t|---\t|\n")
	for _, engine := range engines {
		err := onPair(ctx, programs, engine, o.Workers, func(p *program.Pair) error {
			for _, operation := range operations {
				result, err := p.Compare(ctx, operation, o)
				if err != nil {
					return fmt.Errorf("%s: %w", operation, err)
				}
				fmt.Printf("\n%s on %s\n", operation, engine)
				if err := result.Write(os.Stdout); err != nil {
					return err
				}
				fmt.Fprintf(t, "| %s\t| %s\t| %.0f\t| %.0f\t| %.2f\t|\n", operation, engine,
					result.Series[0].Throughput(), result.Series[1].Throughput(), result.Ratio(after, before))
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Printf("\nSummary: medians of %d rounds of %s with %d connections. op/s and %s / %s: higher is better.\n\n%s",
		o.Rounds, o.Round, o.Workers, after, before, summary.String())
	return nil
}

// onPair runs f on the programs while they serve.
func onPair(ctx context.Context, programs []program.Program, engine string, workers int, f func(*program.Pair) error) error {
	pair, err := program.NewPair(ctx, programs, engine, workers)
	if err != nil {
		return err
	}
	defer pair.Close()
	return f(pair)
}
