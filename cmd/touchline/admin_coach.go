package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/coach"
)

func coachCommands() []command {
	return []command{
		{words: "coach list", help: "list the coaches, the newest first", run: listCoaches},
		{words: "coach find", args: []string{"<number or name>"}, help: "find coaches by mobile number, or by the start of the name", run: findCoach},
		{words: "coach show", args: []string{"<coach_id>"}, help: "print one coach", run: showCoach},
		{words: "coach tier", args: []string{"<coach_id>", "<tier>"}, help: "set the subscription tier of a coach", run: setTier},
		{words: "coach suspend", args: []string{"<coach_id>"}, help: "end every session of a coach and refuse new sign-ins", run: suspendCoach, flags: func(f *flag.FlagSet) {
			f.String("reason", "", "reason, which operators can read")
		}},
		{words: "coach restore", args: []string{"<coach_id>"}, help: "let a suspended coach sign in again", run: restoreCoach},
	}
}

func listCoaches(ctx context.Context, sh *shell, _ []string) error {
	found, err := sh.Accounts.Find(ctx, sh.by, coach.AccountSearch{}, listLimit)
	if err != nil {
		return err
	}
	return sh.printMatches(found)
}

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
	return sh.printMatches(found)
}

func (sh *shell) printMatches(found []coach.AccountMatch) error {
	return printTable(sh, "ID\tNUMBER\tNAME\tTIER\tKYC\tSTATE", found, func(f coach.AccountMatch) []any {
		return []any{f.ID, f.Number, orDash(f.Name), sh.Subscriptions.Tiers.Of(f.Tier).Name, sh.Subscriptions.Tiers.KYCState(f.KYC), f.State()}
	})
}

func showCoach(ctx context.Context, sh *shell, args []string) error {
	return sh.printCoach(ctx, args[0])
}

// printCoach prints one coach. The audit log records it.
func (sh *shell) printCoach(ctx context.Context, id string) error {
	a, p, err := sh.Accounts.Read(ctx, sh.by, id)
	if err != nil {
		return err
	}
	sub, err := sh.Subscriptions.Of(ctx, id)
	if err != nil {
		return err
	}
	tw := newTabWriter(sh.stdout)
	for _, row := range [][2]string{
		{"id", a.ID},
		{"number", string(a.Number)},
		{"name", orDash(oneLine(a.Name))},
		{"email", orDash(p.Email)},
		{"sports", orDash(oneLine(strings.Join(p.Sports, ", ")))},
		{"registered", formatTime(a.CreatedAt)},
		{"tier", sub.Tier.Name + ", since " + formatTime(sub.Since)},
		{"requested tier", orDash(sub.Requested)},
		{"usage", fmt.Sprintf("%d players, %d bytes stored, %d messages in 24 h", sub.Usage.Players, sub.Usage.StorageBytes, sub.Usage.Messages)},
		{"verification", string(sh.Subscriptions.Tiers.KYCState(a.KYC))},
		{"state", a.State()},
	} {
		fmt.Fprintf(tw, "%s\t%s\n", row[0], row[1])
	}
	if !a.SuspendedAt.IsZero() {
		fmt.Fprintf(tw, "suspended\t%s: %s\n", formatTime(a.SuspendedAt), oneLine(a.SuspendedReason))
	}
	return tw.Flush()
}

func setTier(ctx context.Context, sh *shell, args []string) error {
	if err := sh.checkTier(args[1]); err != nil {
		return err
	}
	if _, err := sh.Subscriptions.Set(ctx, sh.by, args[0], args[1]); err != nil {
		return err
	}
	return sh.printCoach(ctx, args[0])
}

// checkTier returns an error for wrong arguments unless there is a tier with this name.
func (sh *shell) checkTier(name string) error {
	if _, ok := sh.Subscriptions.Tiers.Named(name); !ok {
		return errUsage("there is no tier %q; the tiers are %s", name, strings.Join(sh.Subscriptions.Tiers.Names(), ", "))
	}
	return nil
}

func suspendCoach(ctx context.Context, sh *shell, args []string) error {
	reason, err := admin.Reason(sh.text("reason"))
	if err != nil {
		return err
	}
	if err := sh.Accounts.Suspend(ctx, sh.by, args[0], reason); err != nil {
		return err
	}
	return sh.printCoach(ctx, args[0])
}

func restoreCoach(ctx context.Context, sh *shell, args []string) error {
	if err := sh.Accounts.Restore(ctx, sh.by, args[0]); err != nil {
		return err
	}
	return sh.printCoach(ctx, args[0])
}
