package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"time"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/notify"
	"github.com/touchline/touchline/internal/platform/config"
)

func deliveryCommands() []command {
	return []command{
		{words: "deliveries list", help: "list the messages that failed, the latest failure first", run: listDeliveries, flags: func(f *flag.FlagSet) {
			f.String("coach", "", "only messages of the coach with this id")
		}},
		{words: "deliveries costs", help: "list messages and their cost by coach and day, the newest day first", run: listCosts, flags: func(f *flag.FlagSet) {
			f.String("coach", "", "only messages of the coach with this id")
			f.Int("days", 30, "how many days, up to today (UTC)")
		}},
		{words: "deliveries retry", args: []string{"<delivery_id>"}, help: "send a failed message again", run: retryDelivery, needsKey: true},
		{words: "deliveries", help: "list the messages to a number in any state, the newest first, with attempts and reason", run: findDeliveries, flags: func(f *flag.FlagSet) {
			f.String("number", "", "mobile number of the person, in any spelling")
			f.Bool("json", false, "print a line of JSON for each message, as the API does")
		}},
	}
}

func listDeliveries(ctx context.Context, sh *shell, _ []string) error {
	found, err := sh.Deliveries.Failed(ctx, sh.by, notify.FailedDeliverySearch{CoachID: sh.text("coach")}, listLimit)
	if err != nil {
		return err
	}
	return printTable(sh, "ID\tCHANNEL\tKIND\tTO\tREASON\tCAUSE\tATTEMPTS\tFAILED\tCOACH\tNAME\tREQUEST\tRETRY", found, func(d notify.DeliveryRecord) []any {
		retry := "possible"
		if !d.CanRetry() {
			retry = "-"
		}
		return []any{
			d.ID, d.Channel, d.Kind, orDash(d.MaskedTo()), d.Reason, orDash(string(d.Cause)), d.Attempts, formatTime(d.UpdatedAt), orDash(d.CoachID), orDash(d.CoachName), orDash(d.RequestID), retry,
		}
	})
}

// findDeliveries answers "the SMS never came".
func findDeliveries(ctx context.Context, sh *shell, _ []string) error {
	number, err := sh.Phones.Parse(sh.text("number"))
	if err != nil {
		return errUsage("--number must be a complete mobile number")
	}
	found, err := sh.Deliveries.To(ctx, sh.by, notify.NumberDeliverySearch{Number: number}, listLimit)
	if err != nil {
		return err
	}
	if sh.text("json") == "true" {
		out := json.NewEncoder(sh.stdout)
		out.SetEscapeHTML(false)
		for _, d := range found {
			if err := out.Encode(admin.DeliveryJSON(d)); err != nil {
				return fmt.Errorf("print the messages: %w", err)
			}
		}
		return nil
	}
	return printTable(sh, "ID\tCHANNEL\tKIND\tSTATE\tREASON\tCAUSE\tATTEMPTS\tQUEUED\tCHANGED\tCOACH\tNAME", found, func(d notify.DeliveryRecord) []any {
		return []any{
			d.ID, d.Channel, d.Kind, d.State, orDash(d.Reason), orDash(string(d.Cause)), d.Attempts, formatTime(d.CreatedAt), formatTime(d.UpdatedAt), orDash(d.CoachID), orDash(d.CoachName),
		}
	})
}

func listCosts(ctx context.Context, sh *shell, _ []string) error {
	days := sh.number("days")
	if days < 1 {
		return errUsage("--days must be 1 or more")
	}
	today := time.Now().UTC()
	search := notify.MessageCostSearch{From: today.AddDate(0, 0, 1-days), To: today, CoachID: sh.text("coach")}
	tw := newTabWriter(sh.stdout)
	fmt.Fprintln(tw, "DAY\tCOACH\tCHANNEL\tMESSAGES\tSEGMENTS\tCOST")
	var total notify.MessageCost
	for {
		found, err := sh.Deliveries.Costs(ctx, sh.by, search, listLimit)
		if err != nil {
			return err
		}
		for _, c := range found {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%d\t%d\t%s\n", c.Day.Format(time.DateOnly), orDash(c.CoachID), c.Channel, c.Messages, c.Segments, config.Money(c.Cost))
			total.Messages, total.Segments, total.Cost = total.Messages+c.Messages, total.Segments+c.Segments, total.Cost+c.Cost
			search.After = notify.MessageCostCursor{Day: c.Day, CoachID: c.CoachID, Channel: c.Channel}
		}
		if len(found) < listLimit {
			break
		}
	}
	fmt.Fprintf(tw, "total\t\t\t%d\t%d\t%s\n", total.Messages, total.Segments, config.Money(total.Cost))
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
