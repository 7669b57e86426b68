package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/server"
)

// retentionCommand returns the command that erases what the settings RETAIN_* do not keep.
func retentionCommand(environ []string) *cobra.Command {
	c := destructive(withJSON(&cobra.Command{
		Use: "retention", Short: "erase the data that RETAIN_DELETED and the other RETAIN settings do not keep", Args: cobra.NoArgs,
		Long: `Show how many rows of each table the settings RETAIN_DELETED, RETAIN_UNANSWERED, RETAIN_NOTIFICATIONS,
RETAIN_DELIVERIES and RETAIN_MEDICAL erase now, and when the next ones follow. Then ask, and erase them. The service does the
same every 10 minutes. It may be running. Erased data does not come back.

With --dry-run and another value of a setting the command shows what that value would do:
touchline retention --dry-run --retain-deleted=168h

The command takes the settings of "touchline serve", as variables or flags: database and master key. --dry-run needs
no master key.`,
	}))
	open := openOperators(withSettings(c, environ))
	c.RunE = func(c *cobra.Command, _ []string) error {
		operators, err := open(c.Context())
		if err != nil {
			return err
		}
		return failed(errors.Join(erase(c, operators), operators.Close()))
	}
	return c
}

func erase(c *cobra.Command, operators *server.Operators) error {
	due, err := operators.Due(c.Context())
	if err != nil {
		return err
	}
	if dryRun(c) {
		return printResult(c, dueJSON(due), func(w io.Writer) error { return printDue(w, due, "The command would erase these rows:") })
	}
	if yes, _ := c.Flags().GetBool("yes"); !yes {
		if err := printDue(c.ErrOrStderr(), due, ""); err != nil {
			return err
		}
	}
	if err := confirm(c, "Erase these rows? They do not come back."); err != nil {
		return err
	}
	changed, err := operators.Erase(c.Context())
	if err != nil {
		return err
	}
	return printResult(c, map[string]int64{"changed_rows": changed}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%d rows were erased or changed.\n", changed)
		return err
	})
}

func printDue(w io.Writer, due []privacy.Due, title string) error {
	if title != "" {
		fmt.Fprintln(w, title)
	}
	tw := newTabWriter(w)
	fmt.Fprintln(tw, "SETTING\tKEPT\tTABLE\tROWS NOW\tNEXT")
	for _, d := range due {
		kept, next := "for ever", "-"
		if days := d.Kept / (24 * time.Hour); d.Kept%(24*time.Hour) != 0 {
			kept = d.Kept.String()
		} else if days > 0 {
			kept = fmt.Sprintf("%d days", days)
		}
		if !d.Next.IsZero() {
			next = formatTime(d.Next)
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%s\n", d.Setting, kept, d.Table, d.Rows, next)
	}
	return tw.Flush()
}

func dueJSON(due []privacy.Due) map[string]any {
	rows := make([]map[string]any, 0, len(due))
	for _, d := range due {
		row := map[string]any{"setting": d.Setting, "kept_seconds": int64(d.Kept / time.Second), "table": d.Table, "rows": d.Rows, "next": nil}
		if !d.Next.IsZero() {
			row["next"] = formatTime(d.Next)
		}
		rows = append(rows, row)
	}
	return map[string]any{"would_erase": rows}
}
