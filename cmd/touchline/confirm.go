package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// destructive adds --yes and --dry-run to a command that deletes, replaces or ends something. Before that the command
// calls confirm; with --dry-run it only prints what it would do.
func destructive(c *cobra.Command) *cobra.Command {
	c.Flags().Bool("yes", false, "do not ask; needed without a terminal")
	c.Flags().Bool("dry-run", false, "print what the command would do, and change nothing")
	return c
}

func dryRun(c *cobra.Command) bool {
	dry, _ := c.Flags().GetBool("dry-run")
	return dry
}

// confirm asks a question on the terminal. It returns an error unless the answer is yes. With --yes it does not ask.
func confirm(c *cobra.Command, question string) error {
	if yes, _ := c.Flags().GetBool("yes"); yes {
		return nil
	}
	if !terminal(c.InOrStdin()) {
		return errUsage("add --yes: there is no terminal on which to ask")
	}
	return ask(c.InOrStdin(), c.ErrOrStderr(), question)
}

// terminal reports whether r may be a terminal. A device such as /dev/null is one too, so ask handles its end.
func terminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice != 0
}

func ask(in io.Reader, out io.Writer, question string) error {
	fmt.Fprintf(out, "%s [y/N] ", question)
	line, err := bufio.NewReader(in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	case "":
		if err != nil {
			fmt.Fprintln(out)
			return errUsage("add --yes: there is no terminal on which to ask")
		}
	}
	return errors.New("nothing was changed")
}
