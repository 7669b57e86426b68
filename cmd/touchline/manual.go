package main

import (
	"bytes"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/touchline/touchline/internal/platform/buildinfo"
	"github.com/touchline/touchline/internal/platform/config"
)

// manualCommand returns the command that writes the manual pages of all commands. Packages are built with it.
func manualCommand() *cobra.Command {
	var date string
	c := &cobra.Command{
		Use: "manual <folder>", Short: "write a manual page for each command", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			day, err := time.Parse(time.DateOnly, date)
			if err != nil {
				return errUsage("--date: %v", err)
			}
			return failed(writeManual(c.Root(), args[0], day))
		},
	}
	c.Flags().StringVar(&date, "date", time.Unix(0, 0).UTC().Format(time.DateOnly), "date in the pages")
	return c
}

// writeManual writes touchline.1, touchline-serve.1 and so on. The page of touchline config lists the settings.
func writeManual(root *cobra.Command, folder string, day time.Time) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var settings bytes.Buffer
	if err := config.Usage(&settings); err != nil {
		return err
	}
	root.DisableAutoGenTag = true
	for _, c := range root.Commands() {
		if c.Name() == "config" {
			c.Long = c.Short + "\n\nEach setting as a flag and as an environment variable, with its default and its meaning:\n\n```\n" + settings.String() + "```\n"
		}
	}
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &day, Source: "Touchline " + buildinfo.Release, Manual: "Touchline"}, folder)
}
