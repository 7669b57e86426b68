package main

import (
	"context"
	"flag"
	"fmt"
	"text/tabwriter"

	"github.com/touchline/touchline/internal/notify"
)

func deliveryCommands() []command {
	return []command{
		{words: "deliveries list", help: "list the messages that failed, the latest failure first", run: listDeliveries, flags: func(f *flag.FlagSet) {
			f.String("coach", "", "only messages of the coach with this id")
		}},
		{words: "deliveries retry", args: []string{"<delivery_id>"}, help: "send a message that failed again", run: retryDelivery, needsKey: true},
	}
}

func listDeliveries(ctx context.Context, sh *shell, _ []string) error {
	found, err := sh.Deliveries.Failed(ctx, sh.by, notify.FailedDeliverySearch{CoachID: sh.text("coach")}, listLimit)
	if err != nil {
		return err
	}
	tw := tabwriter.NewWriter(sh.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "ID\tCHANNEL\tKIND\tREASON\tCAUSE\tATTEMPTS\tFAILED\tCOACH\tREQUEST\tRETRY")
	for _, d := range found {
		retry := "possible"
		if !d.CanRetry() {
			retry = "-"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", d.ID, d.Channel, d.Kind, d.Reason, orDash(string(d.Cause)), d.Attempts, formatTime(d.UpdatedAt), orDash(d.CoachID), orDash(d.RequestID), retry)
	}
	return tw.Flush()
}

func retryDelivery(ctx context.Context, sh *shell, args []string) error {
	d, err := sh.Deliveries.Retry(ctx, sh.by, args[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.stdout, "Message %s is queued. The service sends it within a second.\n", d.ID)
	return nil
}
