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

	"github.com/touchline/touchline/internal/actor"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/fault"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/server"
)

// shell is what a command of an operator works with.
type shell struct {
	*server.Operators
	by actor.Operator
	// out is for what was asked for, notes for what goes with it: a script keeps
	// the first and a person reads both.
	out, notes io.Writer
}

// command is one thing that an operator may do in a shell.
type command struct {
	// words name it: token create.
	words string
	// args names its arguments, for people; there must be as many.
	args []string
	help string
	// prepare adds its own flags and returns what does it.
	prepare func(f *flag.FlagSet) func(ctx context.Context, sh *shell, args []string) error
}

// commands are those of touchline admin, in the order in which the help has them.
func commands() []command {
	return slices.Concat(tokenCommands(), kycCommands(), coachCommands(), auditCommands())
}

// operate carries out one command of an operator and returns the exit status. The
// service may be running; it sees what was done at its next request.
func operate(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	c, rest := findCommand(args)
	if c == nil {
		if len(args) == 0 || !slices.Contains([]string{"help", "-h", "--help"}, args[len(args)-1]) {
			adminUsage(stderr)
			return 2
		}
		adminUsage(stdout)
		return 0
	}
	flags := flag.NewFlagSet(c.words, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	do := c.prepare(flags)
	own := names(flags)
	settings := settingFlags(flags)
	given, err := parse(flags, rest)
	if errors.Is(err, flag.ErrHelp) {
		c.usage(stdout, own)
		return 0
	}
	if err == nil && len(given) != len(c.args) {
		err = fmt.Errorf("it takes %d arguments: %s", len(c.args), strings.Join(c.args, " "))
		if len(c.args) == 0 {
			err = errors.New("it takes no arguments")
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "touchline admin %s: %v\n\n", c.words, err)
		c.usage(stderr, own)
		return 2
	}
	cfg, code := load(settings(), environ, stdout, stderr)
	if cfg == nil {
		return code
	}
	if err := c.run(ctx, cfg, do, given, stdout, stderr); err != nil {
		return complain(stderr, c.words, err)
	}
	return 0
}

func (c *command) run(ctx context.Context, cfg *config.Config, do func(context.Context, *shell, []string) error, args []string, stdout, stderr io.Writer) error {
	operators, err := server.OpenOperators(ctx, cfg, server.Edges{})
	if err != nil {
		return err
	}
	sh := &shell{Operators: operators, by: actor.Operator{Name: operator.ShellName(whoami())}, out: stdout, notes: stderr}
	return errors.Join(do(ctx, sh, args), operators.Close())
}

// asked says that the command was asked wrongly.
func asked(format string, args ...any) error {
	return fault.New(fault.Malformed, "", format, args...)
}

// complain says what is wrong and returns the exit status.
func complain(w io.Writer, words string, err error) int {
	e, ok := errors.AsType[*fault.Error](err)
	switch {
	case !ok || e.Kind == fault.Unavailable:
		fmt.Fprintf(w, "touchline admin %s: %v\n", words, err)
	case e.Kind == fault.Invalid:
		for _, f := range e.Fields {
			fmt.Fprintf(w, "touchline admin %s: --%s: %s\n", words, strings.TrimPrefix(f.Pointer, "/"), f.Detail)
		}
		return 2
	case e.Kind == fault.Malformed:
		fmt.Fprintf(w, "touchline admin %s: %s\n", words, e.Message)
		return 2
	case e.Kind == fault.NotFound:
		fmt.Fprintf(w, "touchline admin %s: there is nothing with that identifier\n", words)
	default:
		fmt.Fprintf(w, "touchline admin %s: %s\n", words, e.Message)
	}
	return 1
}

// findCommand returns the command that args begin with, and what follows it.
func findCommand(args []string) (*command, []string) {
	for _, c := range commands() {
		words := strings.Fields(c.words)
		if len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			return &c, args[len(words):]
		}
	}
	return nil, nil
}

// whoami is the user whose shell this is.
func whoami() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	if u.Username == "" {
		return u.Uid
	}
	return u.Username
}
