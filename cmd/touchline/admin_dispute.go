package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/touchline/touchline/internal/operator"
)

func disputeCommands() []command {
	return []command{
		{words: "disputes list", help: "list the disputes of requests, newest first", run: listDisputes, flags: func(f *flag.FlagSet) {
			f.String("coach", "", "only disputes of requests of the coach with this id")
			f.String("number", "", "only disputes of this mobile number")
		}},
		{words: "disputes lift", args: []string{"<request_id>"}, help: "end a dispute: the coach may ask this number again", run: liftDispute, needsKey: true},
	}
}

func listDisputes(ctx context.Context, sh *shell, _ []string) error {
	search := operator.DisputeSearch{CoachID: sh.text("coach")}
	if number := sh.text("number"); number != "" {
		n, err := sh.Phones.Parse(number)
		if err != nil || search.CoachID != "" {
			return errUsage("--number takes one complete mobile number, and not with --coach")
		}
		search.Number = n
	}
	found, err := sh.Disputes.Find(ctx, sh.by, search, listLimit)
	if err != nil {
		return err
	}
	return printTable(sh, "REQUEST\tPARTY\tCOACH\tNAME\tDISPUTED", found, func(d operator.Dispute) []any {
		return []any{d.RequestID, d.Party, d.CoachID, orDash(d.CoachName), formatTime(d.At)}
	})
}

func liftDispute(ctx context.Context, sh *shell, args []string) error {
	if err := sh.Disputes.Lift(ctx, sh.by, args[0]); err != nil {
		return err
	}
	fmt.Fprintf(sh.stdout, "The dispute of request %s has ended.\n", args[0])
	return nil
}
