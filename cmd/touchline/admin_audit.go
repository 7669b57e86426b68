package main

import (
	"context"
	"flag"
	"fmt"
	"text/tabwriter"
)

func auditCommands() []command {
	return []command{{"audit", nil, "list what operators did, newest first", listAudit}}
}

func listAudit(f *flag.FlagSet) func(context.Context, *shell, []string) error {
	object := f.String("object", "", "what was done to this coach, document, session or token alone")
	limit := f.Int("limit", 50, "how many entries at most")
	return func(ctx context.Context, sh *shell, _ []string) error {
		entries, err := sh.Tokens.Audit(ctx, *object, "", max(1, *limit))
		if err != nil {
			return err
		}
		tw := tabwriter.NewWriter(sh.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tw, "WHEN\tBY\tTOKEN\tACTION\tOBJECT\tDETAIL")
		for _, e := range entries {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", e.At.UTC().Format("2006-01-02 15:04:05 MST"), e.By.Name, orDash(e.By.ID), e.Action, orDash(e.ObjectID), e.Detail)
		}
		return tw.Flush()
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
