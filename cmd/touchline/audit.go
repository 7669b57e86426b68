package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/proof"
	"github.com/touchline/touchline/internal/server"
)

// errFindings is the error of an audit that found something; its findings are printed.
var errFindings = checkError{errors.New("the database contradicts the log of consents")}

// auditCommand returns the command that audits the log of consents.
func auditCommand(environ []string) *cobra.Command {
	var checkpoints []string
	c := withJSON(&cobra.Command{
		Use: "audit", Short: "compare all consents with their log, and the log with signed checkpoints", Args: cobra.NoArgs,
		Long: `Compute the log of consents again from all records, and compare it with its signed checkpoints. Then compare the
state and the history of each consent with its records. The service may be running. Exit status 3 means that
something was edited, removed, inserted or reordered; the output says what. docs/proof.md says what an audit cannot find.

A checkpoint that was kept elsewhere finds also what an attacker with the master key did. The command takes the
settings of "touchline serve", as variables or flags: database and master key.`,
	})
	c.Flags().StringSliceVar(&checkpoints, "checkpoint", nil, "file with a checkpoint that was kept outside of the service; can be repeated")
	open := openOperators(withSettings(c, environ))
	c.RunE = func(c *cobra.Command, _ []string) error {
		var outside [][]byte
		for _, name := range checkpoints {
			text, err := readFile(c.InOrStdin(), name)
			if err != nil {
				return failed(err)
			}
			outside = append(outside, text)
		}
		operators, err := open(c.Context())
		if err != nil {
			return err
		}
		return failed(errors.Join(audit(c, operators, outside), operators.Close()))
	}
	return c
}

func audit(c *cobra.Command, operators *server.Operators, outside [][]byte) error {
	log, err := operators.Log(c.Context())
	if err != nil {
		return err
	}
	r, err := log.Audit(c.Context(), outside...)
	if err != nil {
		return err
	}
	err = printResult(c, map[string]any{"records": r.Records, "players": r.Players, "findings": append([]string{}, r.Findings...), "findings_left_out": r.Left}, func(io.Writer) error {
		printFindings(c, r)
		return nil
	})
	if err == nil && len(r.Findings) > 0 {
		err = errFindings
	}
	return err
}

func printFindings(c *cobra.Command, r proof.Report) {
	c.Printf("%d records and %d players were checked.\n", r.Records, r.Players)
	if len(r.Findings) == 0 {
		c.Println("Nothing contradicts the log.")
	}
	for _, finding := range r.Findings {
		c.Println("- " + finding)
	}
	if r.Left > 0 {
		c.Printf("%d more findings are not shown.\n", r.Left)
	}
}

var errNotStopped = errors.New("the log has not stopped")

func logCommands(leaf leafFunc) []*cobra.Command {
	return []*cobra.Command{
		leaf("key", "print the public key of the log, with which receipts are verified", cobra.NoArgs, printLogKey),
		destructive(leaf("continue", "continue a log that has stopped under another name", cobra.NoArgs, continueLog)),
	}
}

func printLogKey(ctx context.Context, sh *shell, _ []string) error {
	log, err := sh.Log(ctx)
	if err != nil {
		return err
	}
	key, err := log.CurrentKey(ctx)
	if err != nil {
		return err
	}
	return printResult(sh.Command, map[string]string{"key": key}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, key)
		return err
	})
}

func continueLog(ctx context.Context, sh *shell, _ []string) error {
	log, err := sh.Log(ctx)
	if err != nil {
		return err
	}
	reason, err := log.StoppedReason(ctx)
	switch {
	case err != nil:
		return err
	case reason == "":
		return errNotStopped
	case dryRun(sh.Command):
		return printResult(sh.Command, map[string]string{"stopped": reason}, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "The log has stopped: %s. The command would continue it under another name with another key.\n", reason)
			return err
		})
	}
	if err := confirm(sh.Command, "The log has stopped: "+reason+". Continue it under another name, with another key?"); err != nil {
		return err
	}
	name, err := log.Continue(ctx, sh.by)
	if fault.KindOf(err) == fault.Conflict {
		return errNotStopped
	}
	if err != nil {
		return err
	}
	return printResult(sh.Command, map[string]string{"log": name}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "The log continues as %s. Its key is another one: \"touchline admin log key\" prints it.\n", name)
		return err
	})
}
