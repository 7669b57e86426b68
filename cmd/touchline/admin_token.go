package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/fault"
)

// listLimit is the maximum number of rows in a list.
const listLimit = 200

func tokenCommands(leaf leafFunc) []*cobra.Command {
	create := leaf("create", "create a token for the operators' listener and print it once", cobra.NoArgs, createToken)
	create.Flags().String("name", "", "name of the user or service, for the audit log")
	create.Flags().StringSlice("scopes", nil, "scopes, separated by commas: "+scopeNames(operator.Scopes))
	create.Flags().Int("days", operator.DefaultDays, fmt.Sprintf("validity in days, at most %d", operator.MaxDays))
	return []*cobra.Command{
		create,
		leaf("list", "list the tokens, newest first", cobra.NoArgs, listTokens),
		destructive(leaf("revoke <id>", "revoke a token at once", cobra.ExactArgs(1), revokeToken)),
	}
}

func createToken(ctx context.Context, sh *shell, _ []string) error {
	request := operator.TokenRequest{Name: sh.text("name")}
	request.Days, _ = sh.Flags().GetInt("days")
	scopes, _ := sh.Flags().GetStringSlice("scopes")
	for _, word := range scopes {
		if word = strings.TrimSpace(word); word != "" {
			request.Scopes = append(request.Scopes, operator.Scope(word))
		}
	}
	t, secret, err := sh.Tokens.Create(ctx, sh.by, request)
	if err != nil {
		return err
	}
	if sh.json {
		return printJSON(sh.OutOrStdout(), map[string]any{"id": t.ID, "name": t.Name, "scopes": t.Scopes, "valid_until": formatTime(t.EndsAt), "token": secret})
	}
	sh.PrintErrf("Token %s, %q, with the scopes %s, is valid until %s. It is not shown again:\n", t.ID, t.Name, scopeNames(t.Scopes), formatTime(t.EndsAt))
	sh.Println(secret)
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
	found, err := sh.findToken(ctx, args[0])
	if err != nil {
		return err
	}
	described := fmt.Sprintf("token %s, %q, with the scopes %s", found.ID, found.Name, scopeNames(found.Scopes))
	if dryRun(sh.Command) {
		return printResult(sh.Command, map[string]any{"id": found.ID, "name": found.Name, "scopes": found.Scopes}, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "The command would revoke %s.\n", described)
			return err
		})
	}
	if err := confirm(sh.Command, "Revoke "+described+"?"); err != nil {
		return err
	}
	t, err := sh.Tokens.Revoke(ctx, sh.by, found.ID)
	if err != nil {
		return err
	}
	return printResult(sh.Command, map[string]string{"id": t.ID, "name": t.Name, "revoked": formatTime(t.RevokedAt)}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "Token %s, %q, was revoked at %s.\n", t.ID, t.Name, formatTime(t.RevokedAt))
		return err
	})
}

func (sh *shell) findToken(ctx context.Context, id string) (operator.Token, error) {
	for after := ""; ; {
		tokens, err := sh.Tokens.Tokens(ctx, sh.by, after, listLimit)
		if err != nil {
			return operator.Token{}, err
		}
		for _, t := range tokens {
			if t.ID == id {
				return t, nil
			}
		}
		if len(tokens) < listLimit {
			return operator.Token{}, fault.Missing()
		}
		after = tokens[len(tokens)-1].ID
	}
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
