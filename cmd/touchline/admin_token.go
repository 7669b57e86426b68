package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/touchline/touchline/internal/operator"
)

// listLimit is the maximum number of rows in a list.
const listLimit = 200

func tokenCommands() []command {
	return []command{
		{words: "token create", help: "create a token for the operators' listener and print it once", run: createToken, flags: func(f *flag.FlagSet) {
			f.String("name", "", "name of the user or service, for the audit log")
			f.String("scopes", "", "scopes, separated by commas: "+scopeNames(operator.Scopes))
			f.Int("days", operator.DefaultDays, fmt.Sprintf("validity in days, at most %d", operator.MaxDays))
		}},
		{words: "token list", help: "list the tokens, newest first", run: listTokens},
		{words: "token revoke", args: []string{"<id>"}, help: "revoke a token at once", run: revokeToken},
	}
}

func createToken(ctx context.Context, sh *shell, _ []string) error {
	request := operator.TokenRequest{Name: sh.text("name"), Days: sh.number("days")}
	for word := range strings.SplitSeq(sh.text("scopes"), ",") {
		if word = strings.TrimSpace(word); word != "" {
			request.Scopes = append(request.Scopes, operator.Scope(word))
		}
	}
	t, secret, err := sh.Tokens.Create(ctx, sh.by, request)
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.stderr, "Token %s, %q, with the scopes %s, is valid until %s. It is not shown again:\n", t.ID, t.Name, scopeNames(t.Scopes), formatTime(t.EndsAt))
	fmt.Fprintln(sh.stdout, secret)
	return nil
}

func listTokens(ctx context.Context, sh *shell, _ []string) error {
	tokens, err := sh.Tokens.Tokens(ctx, sh.by, "", listLimit)
	if err != nil {
		return err
	}
	return printTable(sh, "ID\tNAME\tSCOPES\tCREATED\tVALID UNTIL\tLAST USED\tSTATE", tokens, func(t operator.Token) []any {
		state := "valid"
		switch {
		case !t.RevokedAt.IsZero():
			state = "revoked " + formatTime(t.RevokedAt)
		case !t.Valid(time.Now()):
			state = "expired"
		}
		return []any{t.ID, t.Name, scopeNames(t.Scopes), formatTime(t.CreatedAt), formatTime(t.EndsAt), formatTime(t.LastUsedAt), state}
	})
}

func revokeToken(ctx context.Context, sh *shell, args []string) error {
	t, err := sh.Tokens.Revoke(ctx, sh.by, args[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.stdout, "Token %s, %q, was revoked at %s.\n", t.ID, t.Name, formatTime(t.RevokedAt))
	return nil
}

func scopeNames(scopes []operator.Scope) string {
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	return strings.Join(words, ",")
}

// formatTime formats t in UTC.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04 MST")
}
