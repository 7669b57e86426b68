package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/touchline/touchline/internal/operator"
)

func auditCommands() []command {
	return []command{{words: "audit", help: "list the actions of operators, newest first", run: listAudit, flags: func(f *flag.FlagSet) {
		f.String("object", "", "only actions on the coach, document, session or token with this id")
		f.Int("limit", 50, fmt.Sprintf("maximum number of entries, at most %d", listLimit))
	}}}
}

func listAudit(ctx context.Context, sh *shell, _ []string) error {
	entries, err := sh.Tokens.Audit(ctx, sh.by, sh.text("object"), "", min(max(1, sh.number("limit")), listLimit))
	if err != nil {
		return err
	}
	return printTable(sh, "WHEN\tBY\tTOKEN\tACTION\tOBJECT\tDETAIL", entries, func(e operator.Entry) []any {
		return []any{e.At.UTC().Format("2006-01-02 15:04:05 MST"), e.By.Name, orDash(e.By.ID), e.Action, orDash(e.ObjectID), e.Detail}
	})
}
