package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/touchline/touchline/internal/operator"
)

// listLimit is how many lines a list prints at most.
const listLimit = 200

func tokenCommands() []command {
	return []command{
		{"token create", nil, "make a token for the operators' listener, and print it this once", createToken},
		{"token list", nil, "list the tokens, newest first", listTokens},
		{"token revoke", []string{"<id>"}, "end a token at once", revokeToken},
	}
}

func createToken(f *flag.FlagSet) func(context.Context, *shell, []string) error {
	name := f.String("name", "", "who or what will use it; the audit log says it")
	scopes := f.String("scopes", "", "what it is for, by commas: "+scopeNames(operator.Scopes))
	days := f.Int("days", operator.DefaultDays, fmt.Sprintf("how long it works, at most %d", operator.MaxDays))
	return func(ctx context.Context, sh *shell, _ []string) error {
		request := operator.TokenRequest{Name: *name, Days: *days}
		for word := range strings.SplitSeq(*scopes, ",") {
			if word = strings.TrimSpace(word); word != "" {
				request.Scopes = append(request.Scopes, operator.Scope(word))
			}
		}
		t, secret, err := sh.Tokens.Create(ctx, sh.by, request)
		if err != nil {
			return err
		}
		fmt.Fprintf(sh.notes, "Token %s, %q, for %s, works until %s. It is not shown again:\n", t.ID, t.Name, scopeNames(t.Scopes), moment(t.EndsAt))
		fmt.Fprintln(sh.out, secret)
		return nil
	}
}

func listTokens(*flag.FlagSet) func(context.Context, *shell, []string) error {
	return func(ctx context.Context, sh *shell, _ []string) error {
		tokens, err := sh.Tokens.Tokens(ctx, "", listLimit)
		if err != nil {
			return err
		}
		tw := tabwriter.NewWriter(sh.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tw, "ID\tNAME\tSCOPES\tMADE\tWORKS UNTIL\tLAST USED\tSTATE")
		for _, t := range tokens {
			state := "works"
			switch {
			case !t.RevokedAt.IsZero():
				state = "revoked " + moment(t.RevokedAt)
			case !t.Valid(time.Now()):
				state = "ended"
			}
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, scopeNames(t.Scopes), moment(t.CreatedAt), moment(t.EndsAt), moment(t.LastUsedAt), state)
		}
		return tw.Flush()
	}
}

func revokeToken(*flag.FlagSet) func(context.Context, *shell, []string) error {
	return func(ctx context.Context, sh *shell, args []string) error {
		t, err := sh.Tokens.Revoke(ctx, sh.by, args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(sh.out, "Token %s, %q, is revoked since %s.\n", t.ID, t.Name, moment(t.RevokedAt))
		return nil
	}
}

func scopeNames(scopes []operator.Scope) string {
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	return strings.Join(words, ",")
}

// moment is a time for people.
func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format("2006-01-02 15:04 MST")
}
