package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/user"
	"slices"
	"strings"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/server"
)

// shell holds the services, the flags and the output of one command.
type shell struct {
	*server.Operators
	by    actor.Operator
	flags *flag.FlagSet
	// stdout gets the result, which a script may read; stderr gets explanations.
	stdout, stderr io.Writer
}

// text returns the value of a flag of the command.
func (sh *shell) text(name string) string { return sh.flags.Lookup(name).Value.String() }

// number returns the value of a flag that is a number.
func (sh *shell) number(name string) int {
	return sh.flags.Lookup(name).Value.(flag.Getter).Get().(int)
}

// command is one subcommand of touchline admin.
type command struct {
	// words is the name, such as "token create".
	words string
	// args are the names of the required arguments.
	args []string
	help string
	// flags, if not nil, adds the flags of the command.
	flags func(f *flag.FlagSet)
	run   func(ctx context.Context, sh *shell, args []string) error
}

// commands returns the commands in the order of the help.
func commands() []command {
	return slices.Concat(tokenCommands(), kycCommands(), coachCommands(), mailCommands(), deliveryCommands())
}

// runAdmin runs one command and returns the exit status. Running replicas see its
// effect at their next request.
func runAdmin(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	c, rest := findCommand(args)
	if c == nil {
		if len(args) > 0 && (args[0] == "help" || slices.Contains([]string{"help", "-h", "--help"}, args[len(args)-1])) {
			adminUsage(stdout)
			return 0
		}
		if len(args) > 0 {
			words := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") })
			if words < 0 {
				words = len(args)
			}
			fmt.Fprintf(stderr, "touchline admin: unknown command %q\n\n", strings.Join(args[:words], " "))
		}
		adminUsage(stderr)
		return 2
	}
	flags := flag.NewFlagSet(c.words, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	if c.flags != nil {
		c.flags(flags)
	}
	var commandFlags []*flag.Flag
	flags.VisitAll(func(f *flag.Flag) { commandFlags = append(commandFlags, f) })
	settings := settingFlags(flags)
	positional, err := parse(flags, rest)
	if errors.Is(err, flag.ErrHelp) {
		c.usage(stdout, commandFlags)
		return 0
	}
	if err == nil && len(positional) != len(c.args) {
		err = fmt.Errorf("requires %s", strings.Join(c.args, " "))
		if len(c.args) == 0 {
			err = errors.New("takes no arguments")
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "touchline admin %s: %v\n\n", c.words, err)
		c.usage(stderr, commandFlags)
		return 2
	}
	cfg, code := load(settings(), environ, stdout, stderr)
	if cfg == nil {
		return code
	}
	operators, err := server.OpenOperators(ctx, cfg, server.Options{})
	if err == nil {
		sh := &shell{Operators: operators, by: actor.Operator{Name: operator.ShellName(userName())}, flags: flags, stdout: stdout, stderr: stderr}
		err = errors.Join(c.run(ctx, sh, positional), operators.Close())
	}
	if err != nil {
		return printError(stderr, c.words, err)
	}
	return 0
}

// errUsage returns an error for wrong arguments: exit status 2.
func errUsage(format string, args ...any) error {
	return fault.New(fault.Malformed, "", format, args...)
}

// printError prints err and returns the exit status.
func printError(w io.Writer, words string, err error) int {
	e, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok || e.Kind == fault.Unavailable:
		fmt.Fprintf(w, "touchline admin %s: %v\n", words, err)
	case e.Kind == fault.Invalid:
		for _, f := range e.Fields {
			fmt.Fprintf(w, "touchline admin %s: --%s: %s\n", words, strings.ReplaceAll(strings.TrimPrefix(f.Pointer, "/"), "_", "-"), f.Detail)
		}
		return 2
	case e.Kind == fault.Malformed:
		fmt.Fprintf(w, "touchline admin %s: %s\n", words, e.Message)
		return 2
	case e.Kind == fault.NotFound:
		fmt.Fprintf(w, "touchline admin %s: there is nothing with this id\n", words)
	default:
		fmt.Fprintf(w, "touchline admin %s: %s\n", words, e.Message)
	}
	return 1
}

// findCommand returns the command whose name args begin with, and the remaining args.
func findCommand(args []string) (*command, []string) {
	for _, c := range commands() {
		words := strings.Fields(c.words)
		if len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			return &c, args[len(words):]
		}
	}
	return nil, nil
}

// userName returns the user who runs the command, for the audit log.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	if u.Username == "" {
		return u.Uid
	}
	return u.Username
}
