package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/platform/fault"
)

// settingsError is an error of the settings: exit status 2.
type settingsError struct{ error }

// commandError is an error of a command whose arguments and settings were read: exit status 1, or 2
// for an invalid value.
type commandError struct{ error }

func (e commandError) Unwrap() error { return e.error }

// failed marks an error of a command.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return commandError{err}
}

// errUsage returns an error for wrong arguments: exit status 2.
func errUsage(format string, args ...any) error {
	return fault.New(fault.Malformed, "", format, args...)
}

// report prints the error of a command and returns the exit status. Any error but a settingsError or
// a commandError is about the command line, so the usage follows.
func report(c *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	out := c.ErrOrStderr()
	if invalid, ok := errors.AsType[settingsError](err); ok {
		fmt.Fprintf(out, "touchline: invalid settings:\n%v\n", invalid.error)
		return 2
	}
	ran, ok := errors.AsType[commandError](err)
	if !ok {
		fmt.Fprintf(out, "%s: %v\n\n%s", c.CommandPath(), err, c.UsageString())
		return 2
	}
	e, ok := errors.AsType[*fault.Error](ran.error)
	switch {
	case !ok || e.Kind == fault.Unavailable:
		fmt.Fprintf(out, "%s: %v\n", c.CommandPath(), ran.error)
	case e.Kind == fault.Invalid:
		for _, f := range e.Fields {
			fmt.Fprintf(out, "%s: --%s: %s\n", c.CommandPath(), strings.ReplaceAll(strings.TrimPrefix(f.Pointer, "/"), "_", "-"), f.Detail)
		}
		return 2
	case e.Kind == fault.Malformed:
		fmt.Fprintf(out, "%s: %s\n", c.CommandPath(), e.Message)
		return 2
	case e.Kind == fault.NotFound:
		fmt.Fprintf(out, "%s: there is nothing with this id\n", c.CommandPath())
	default:
		fmt.Fprintf(out, "%s: %s\n", c.CommandPath(), e.Message)
	}
	return 1
}
