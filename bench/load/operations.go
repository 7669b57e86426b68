package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/touchline/touchline/bench"
	"github.com/touchline/touchline/bench/program"
)

// parsePrograms reads the flag -programs: before=/path/a,after=/path/b. An empty list is this module's build; NewGroup builds it.
func parsePrograms(list string) ([]program.Program, error) {
	if list == "" {
		return []program.Program{{Name: "current"}}, nil
	}
	var programs []program.Program
	seen := map[string]bool{}
	for item := range strings.SplitSeq(list, ",") {
		name, path, ok := strings.Cut(item, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("-programs: %q is not name=path", item)
		}
		if seen[name] {
			return nil, fmt.Errorf("-programs: %q is named twice", name)
		}
		seen[name] = true
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("-programs: %w", err)
		}
		programs = append(programs, program.Program{Name: name, Path: path})
	}
	return programs, nil
}

// measureOperations prints a table for each operation and engine, and a summary of all.
func measureOperations(ctx context.Context, list string, operations, engines []string, o bench.Options) error {
	programs, err := parsePrograms(list)
	if err != nil {
		return err
	}
	var summary strings.Builder
	table := tabwriter.NewWriter(&summary, 0, 0, 1, ' ', 0)
	fmt.Fprint(table, header(programs))
	for _, engine := range engines {
		if err := measureOn(ctx, programs, engine, operations, o, table); err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Printf("\nSummary: medians of %d rounds of %s with %d connections. op/s and ratios: higher is better. CPU: lower is better.\n\n%s",
		o.Rounds, o.Round, o.Workers, summary.String())
	return nil
}

// measureOn measures the operations on one engine and adds a line for each to the summary.
func measureOn(ctx context.Context, programs []program.Program, engine string, operations []string, o bench.Options, summary *tabwriter.Writer) error {
	group, err := program.NewGroup(ctx, programs, engine, o.Workers)
	if err != nil {
		return err
	}
	defer group.Close()
	for _, operation := range operations {
		result, err := group.Compare(ctx, operation, o)
		if err != nil {
			return fmt.Errorf("%s: %w", operation, err)
		}
		fmt.Printf("\n%s on %s\n", operation, engine)
		if err := result.Write(os.Stdout); err != nil {
			return err
		}
		fmt.Fprintf(summary, "| %s\t| %s\t|", operation, engine)
		for i, s := range result.Series {
			fmt.Fprintf(summary, " %.0f\t| %.2f ms\t|", s.Throughput(), float64(s.CPUPerOperation())/float64(time.Millisecond))
			if i > 0 {
				fmt.Fprintf(summary, " %.2f\t|", result.Ratio(s.Name, result.Series[0].Name))
			}
		}
		fmt.Fprintln(summary)
	}
	return nil
}

// header returns the first two lines of the summary, a Markdown table.
func header(programs []program.Program) string {
	titles, rule := "| operation\t| engine\t|", "|---\t|---\t|"
	for i, p := range programs {
		titles += fmt.Sprintf(" %s, op/s\t| CPU/op\t|", p.Name)
		rule += "---\t|---\t|"
		if i > 0 {
			titles += fmt.Sprintf(" %s / %s\t|", p.Name, programs[0].Name)
			rule += "---\t|"
		}
	}
	return titles + "\n" + rule + "\n"
}
