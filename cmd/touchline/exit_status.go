package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/platform/fault"
)

const exitCodes = `Exit status of the commands:

  0  the command did what it says
  1  it failed, or you answered no; the message says why
  2  invalid arguments or settings; nothing was done
  3  the check ran and found something: a failed check, a service that is not ready,
     a database that contradicts its log, a receipt that proves nothing

A command that a signal kills has the status of the shell: 130 after Ctrl+C, 137 after
SIGKILL. "touchline serve" ends with 0 after SIGTERM or Ctrl+C.`

// checkError is the error of a check that ran and found something: exit status 3.
type checkError struct{ error }

// settingsError is an error of the settings: exit status 2.
type settingsError struct{ error }

// commandError is an error of a command whose arguments and settings were read: exit status 1, 2 for an invalid value,
// or 3 for a checkError.
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
	if found, ok := errors.AsType[checkError](ran.error); ok {
		fmt.Fprintf(out, "%s: %v\n", c.CommandPath(), found.error)
		return 3
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
