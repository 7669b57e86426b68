package main

import (
	"context"
	"flag"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/coach"
)

func tierCommands() []command {
	return []command{
		{words: "tier-requests list", help: "list the coaches who asked for a tier, oldest request first", run: listTierRequests},
		{words: "tier-requests approve", args: []string{"<coach_id>", "<tier>"}, help: "give a coach the tier that the coach asked for", run: approveTier},
		{words: "tier-requests refuse", args: []string{"<coach_id>", "<tier>"}, help: "refuse the tier that a coach asked for", run: refuseTier, flags: func(f *flag.FlagSet) {
			f.String("reason", "", "reason, which the coach can read")
		}},
	}
}

func listTierRequests(ctx context.Context, sh *shell, _ []string) error {
	found, err := sh.Subscriptions.Requests(ctx, sh.by, coach.TierRequestCursor{}, listLimit)
	if err != nil {
		return err
	}
	return printTable(sh, "COACH\tNAME\tCURRENT TIER\tREQUESTED TIER\tREQUESTED AT", found, func(r coach.TierRequest) []any {
		return []any{r.CoachID, orDash(r.CoachName), sh.Subscriptions.Tiers.Of(r.Tier).Name, r.Requested, formatTime(r.At)}
	})
}

func approveTier(ctx context.Context, sh *shell, args []string) error {
	if err := sh.checkTier(args[1]); err != nil {
		return err
	}
	if _, err := sh.Subscriptions.Approve(ctx, sh.by, args[0], args[1]); err != nil {
		return err
	}
	return sh.printCoach(ctx, args[0])
}

func refuseTier(ctx context.Context, sh *shell, args []string) error {
	reason, err := admin.Reason(sh.text("reason"))
	if err != nil {
		return err
	}
	if _, err := sh.Subscriptions.Refuse(ctx, sh.by, args[0], args[1], reason); err != nil {
		return err
	}
	return sh.printCoach(ctx, args[0])
}
