package main

import (
	"context"
	"errors"

	"github.com/touchline/touchline/internal/coach"
)

func findCoach(ctx context.Context, sh *shell, args []string) error {
	search := coach.AccountSearch{Name: args[0]}
	if n, err := sh.Phones.Parse(args[0]); err == nil {
		search = coach.AccountSearch{Number: n}
	}
	found, err := sh.Accounts.Find(ctx, sh.by, search, listLimit)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("no coach has this number or a name that starts with this text")
	}
	return printTable(sh, "ID\tNUMBER\tNAME\tTIER\tKYC\tSTATE", found, func(f coach.AccountMatch) []any {
		return []any{f.ID, f.Number, orDash(f.Name), sh.Subscriptions.Tiers.Of(f.Tier).Name, sh.Subscriptions.Tiers.KYCState(f.KYC), f.State()}
	})
}
