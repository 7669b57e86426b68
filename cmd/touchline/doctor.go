package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server/doctor"
)

// diagnose checks the installation with these settings and prints what it found.
func diagnose(ctx context.Context, cfg *config.Config, c *cobra.Command) error {
	results := doctor.Run(ctx, cfg, doctor.Options{})
	count := map[doctor.Status]int{}
	for _, r := range results {
		count[r.Status]++
	}
	summary := map[string]any{"ok": count[doctor.Failed] == 0, "checks": results}
	err := printResult(c, summary, func(w io.Writer) error {
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, r := range results {
			fmt.Fprintf(table, "%s\t%s\t%s\n", r.Status, r.Check, r.Message)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "%d ok, %d to look at, %d failed\n", count[doctor.OK], count[doctor.Warning], count[doctor.Failed])
		return err
	})
	if err == nil && count[doctor.Failed] > 0 {
		err = checkError{errors.New("a check failed; its line says what to do")}
	}
	return err
}
