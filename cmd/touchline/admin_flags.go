package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/touchline/touchline/internal/platform/config"
)

// parse parses flags and arguments in any order and returns the arguments.
func parse(f *flag.FlagSet, args []string) (positional []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		if f.NArg() == 0 {
			return positional, nil
		}
		positional, args = append(positional, f.Arg(0)), f.Args()[1:]
	}
}

// settingFlags adds the flag of every setting to f. After f is parsed, the returned
// function returns the flags that are set, as arguments for config.Load.
func settingFlags(f *flag.FlagSet) func() []string {
	commandFlags := map[string]bool{}
	f.VisitAll(func(fl *flag.Flag) { commandFlags[fl.Name] = true })
	for _, s := range config.Settings() {
		if s.Flag != "" && !commandFlags[s.Flag] {
			f.String(s.Flag, "", s.Help)
		}
		if s.FileName != "" {
			name := strings.TrimPrefix(s.FileName, "TOUCHLINE_")
			f.String(strings.ToLower(strings.ReplaceAll(name, "_", "-")), "", s.Help)
		}
	}
	return func() (args []string) {
		f.Visit(func(fl *flag.Flag) {
			if !commandFlags[fl.Name] {
				args = append(args, "--"+fl.Name+"="+fl.Value.String())
			}
		})
		return args
	}
}

// adminUsage prints the list of commands.
func adminUsage(w io.Writer) {
	fmt.Fprint(w, `Commands for operators. The service may be running: a change takes effect at its
next request. The audit log records every change.

Usage:

`)
	for _, c := range commands() {
		fmt.Fprintf(w, "\ttouchline admin %-28s %s\n", strings.Join(append([]string{c.words}, c.args...), " "), c.help)
	}
	fmt.Fprint(w, `
Each command also takes the settings of "touchline serve", as variables or flags. Use
the database settings of the service. "touchline admin <command> --help" lists the flags.
`)
}

// usage prints the arguments and flags of one command.
func (c *command) usage(w io.Writer, commandFlags []*flag.Flag) {
	fmt.Fprintf(w, "Usage: touchline admin %s", strings.Join(append([]string{c.words}, c.args...), " "))
	for _, f := range commandFlags {
		fmt.Fprintf(w, " [--%s …]", f.Name)
	}
	fmt.Fprintf(w, "\n\n\t%s\n", c.help)
	if len(commandFlags) > 0 {
		fmt.Fprintln(w)
	}
	for _, f := range commandFlags {
		fmt.Fprintf(w, "\t--%-10s %s", f.Name, f.Usage)
		if f.DefValue != "" && f.DefValue != "0" {
			fmt.Fprintf(w, " (default %s)", f.DefValue)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "\nThe command also takes the settings of \"touchline serve\"; \"touchline config\" lists them.")
}
