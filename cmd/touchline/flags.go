package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// withJSON adds --json to a command that prints data.
func withJSON(c *cobra.Command) *cobra.Command {
	c.Flags().Bool("json", false, "print JSON")
	return c
}

func asJSON(c *cobra.Command) bool {
	json, _ := c.Flags().GetBool("json")
	return json
}

// printResult prints v as JSON in one line if --json is given. Otherwise text prints it for people.
func printResult(c *cobra.Command, v any, text func(io.Writer) error) error {
	if asJSON(c) {
		return printJSON(c.OutOrStdout(), v)
	}
	return text(c.OutOrStdout())
}

// printJSON prints v in one line.
func printJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	if err := out.Encode(v); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}

// takeFlags sets the flags of c that args has, and returns the other arguments, which are settings. It also reports
// whether args asks for help.
func takeFlags(c *cobra.Command, args []string) (settings []string, err error) {
	for i := 0; i < len(args); i++ {
		name, value, hasValue := strings.Cut(args[i], "=")
		var f *pflag.Flag
		if flag, ok := strings.CutPrefix(name, "--"); ok {
			f = c.Flags().Lookup(flag)
		}
		switch {
		case f == nil || f.Name == "help":
			settings = append(settings, args[i])
			continue
		case hasValue:
		case f.NoOptDefVal != "":
			value = f.NoOptDefVal
		case i+1 == len(args):
			return nil, fmt.Errorf("--%s needs a value", f.Name)
		default:
			i++
			value = args[i]
		}
		if err := c.Flags().Set(f.Name, value); err != nil {
			return nil, err
		}
	}
	return settings, nil
}
