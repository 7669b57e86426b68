package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/coach"
)

func coachCommands() []command {
	return []command{
		{"coach find", []string{"<number or name>"}, "find coaches by a whole number, or by how the name begins", findCoach},
		{"coach show", []string{"<coach_id>"}, "print one coach", showCoach},
		{"coach tier", []string{"<coach_id>", "<tier>"}, "set a coach's subscription tier", setTier},
		{"coach suspend", []string{"<coach_id>"}, "end every session of a coach, and let nobody sign in", suspendCoach},
		{"coach restore", []string{"<coach_id>"}, "let a suspended coach sign in again", restoreCoach},
	}
}

func findCoach(*flag.FlagSet) func(context.Context, *shell, []string) error {
	return func(ctx context.Context, sh *shell, args []string) error {
		search := coach.AccountSearch{Name: args[0]}
		if n, err := sh.Phones.Parse(args[0]); err == nil {
			search = coach.AccountSearch{Number: n}
		}
		found, err := sh.Oversight.Find(ctx, sh.by, search, listLimit)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return errors.New("no coach has that number, or a name that begins so")
		}
		tw := tabwriter.NewWriter(sh.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tw, "ID\tNUMBER\tNAME\tTIER\tKYC\tSTATE")
		for _, f := range found {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", f.ID, f.Number, orDash(line(f.Name)), sh.Subscriptions.Tiers.Of(f.Tier).Name, f.KYC, f.State())
		}
		return tw.Flush()
	}
}

func showCoach(*flag.FlagSet) func(context.Context, *shell, []string) error {
	return func(ctx context.Context, sh *shell, args []string) error { return sh.printCoach(ctx, args[0]) }
}

// printCoach prints one coach, which is recorded.
func (sh *shell) printCoach(ctx context.Context, id string) error {
	a, p, err := sh.Oversight.Read(ctx, sh.by, id)
	if err != nil {
		return err
	}
	sub, err := sh.Subscriptions.Of(ctx, id)
	if err != nil {
		return err
	}
	kyc := string(a.KYC)
	if !sh.Verifications.On {
		kyc = string(coach.Disabled)
	}
	tw := tabwriter.NewWriter(sh.out, 0, 0, 2, ' ', 0)
	for _, row := range [][2]string{
		{"id", a.ID},
		{"number", string(a.Number)},
		{"name", orDash(line(a.Name))},
		{"email", orDash(p.Email)},
		{"sports", orDash(line(strings.Join(p.Sports, ", ")))},
		{"registered", moment(a.CreatedAt)},
		{"tier", sub.Tier.Name + ", since " + moment(sub.Since)},
		{"use", fmt.Sprintf("%d players, %d bytes stored, %d messages in 24 h", sub.Usage.Players, sub.Usage.StorageBytes, sub.Usage.Messages)},
		{"verification", kyc},
		{"state", a.State()},
	} {
		fmt.Fprintf(tw, "%s\t%s\n", row[0], row[1])
	}
	if !a.SuspendedAt.IsZero() {
		fmt.Fprintf(tw, "suspended\t%s: %s\n", moment(a.SuspendedAt), line(a.SuspendedReason))
	}
	return tw.Flush()
}

func setTier(*flag.FlagSet) func(context.Context, *shell, []string) error {
	return func(ctx context.Context, sh *shell, args []string) error {
		if _, ok := sh.Subscriptions.Tiers.Named(args[1]); !ok {
			return asked("there is no tier %q; there are %s", args[1], strings.Join(sh.Subscriptions.Tiers.Names(), ", "))
		}
		if _, err := sh.Subscriptions.Set(ctx, sh.by, args[0], args[1]); err != nil {
			return err
		}
		return sh.printCoach(ctx, args[0])
	}
}

func suspendCoach(f *flag.FlagSet) func(context.Context, *shell, []string) error {
	reason := f.String("reason", "", "why; operators read it")
	return func(ctx context.Context, sh *shell, args []string) error {
		why, err := admin.Reason(*reason)
		if err != nil {
			return err
		}
		if err := sh.Oversight.Suspend(ctx, sh.by, args[0], why); err != nil {
			return err
		}
		return sh.printCoach(ctx, args[0])
	}
}

func restoreCoach(*flag.FlagSet) func(context.Context, *shell, []string) error {
	return func(ctx context.Context, sh *shell, args []string) error {
		if err := sh.Oversight.Restore(ctx, sh.by, args[0]); err != nil {
			return err
		}
		return sh.printCoach(ctx, args[0])
	}
}

// line is a text of people in one line, without what would confuse a terminal.
func line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
}
