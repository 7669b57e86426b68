package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/touchline/touchline/internal/config"
)

// parse reads flags and arguments in any order, and returns the arguments.
func parse(f *flag.FlagSet, args []string) (given []string, err error) {
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		if f.NArg() == 0 {
			return given, nil
		}
		given, args = append(given, f.Arg(0)), f.Args()[1:]
	}
}

// names lists the flags of f.
func names(f *flag.FlagSet) []string {
	var all []string
	f.VisitAll(func(fl *flag.Flag) { all = append(all, fl.Name) })
	return all
}

// settingFlags adds the flag of every setting to f. The function that it returns
// gives those that were set, once f has been parsed, as package config reads them.
func settingFlags(f *flag.FlagSet) func() []string {
	own := map[string]bool{}
	f.VisitAll(func(fl *flag.Flag) { own[fl.Name] = true })
	for _, s := range config.Settings() {
		if s.Flag != "" && !own[s.Flag] {
			f.String(s.Flag, "", s.Help)
		}
		if s.FileName != "" {
			name := strings.TrimPrefix(s.FileName, "TOUCHLINE_")
			f.String(strings.ToLower(strings.ReplaceAll(name, "_", "-")), "", s.Help)
		}
	}
	return func() (args []string) {
		f.Visit(func(fl *flag.Flag) {
			if !own[fl.Name] {
				args = append(args, "--"+fl.Name+"="+fl.Value.String())
			}
		})
		return args
	}
}

// adminUsage prints what there is.
func adminUsage(w io.Writer) {
	fmt.Fprint(w, `What those who run the service do in a shell. The service may be running; what is
done here holds from its next request on, and is written to the audit log.

Usage:

`)
	for _, c := range commands() {
		fmt.Fprintf(w, "\ttouchline admin %-28s %s\n", strings.Join(append([]string{c.words}, c.args...), " "), c.help)
	}
	fmt.Fprint(w, `
Each takes the settings of "touchline serve" too, as variables or flags; those of
the database must be the service's own. With --help a command says what it takes.
`)
}

// usage prints what one command takes.
func (c *command) usage(w io.Writer, own []string) {
	flags := flag.NewFlagSet(c.words, flag.ContinueOnError)
	c.prepare(flags)
	fmt.Fprintf(w, "Usage: touchline admin %s", strings.Join(append([]string{c.words}, c.args...), " "))
	for _, name := range own {
		fmt.Fprintf(w, " [--%s …]", name)
	}
	fmt.Fprintf(w, "\n\n\t%s\n\n", c.help)
	for _, name := range own {
		fl := flags.Lookup(name)
		fmt.Fprintf(w, "\t--%-10s %s", name, fl.Usage)
		if fl.DefValue != "" && fl.DefValue != "0" {
			fmt.Fprintf(w, " (default %s)", fl.DefValue)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "\nThe settings of \"touchline serve\" are taken too; \"touchline config\" lists them.")
}
