package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/message"
)

func deliveryCommands() []command {
	return []command{
		{words: "deliveries", help: "list the messages to a number in any state, the newest first, with attempts and reason", run: findDeliveries, flags: func(f *flag.FlagSet) {
			f.String("number", "", "mobile number of the person, in any spelling")
			f.Bool("json", false, "print a line of JSON for each message, as the API does")
		}},
	}
}

// findDeliveries answers "the SMS never came".
func findDeliveries(ctx context.Context, sh *shell, _ []string) error {
	number, err := sh.Phones.Parse(sh.text("number"))
	if err != nil {
		return errUsage("--number must be a complete mobile number")
	}
	found, err := sh.Deliveries.To(ctx, sh.by, message.NumberDeliverySearch{Number: number}, listLimit)
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
	return printTable(sh, "ID\tCHANNEL\tKIND\tSTATE\tREASON\tCAUSE\tATTEMPTS\tQUEUED\tCHANGED\tCOACH\tNAME", found, func(d message.DeliveryRecord) []any {
		return []any{
			d.ID, d.Channel, d.Kind, d.State, orDash(d.Reason), orDash(string(d.Cause)), d.Attempts, formatTime(d.CreatedAt), formatTime(d.UpdatedAt), orDash(d.CoachID), orDash(d.CoachName),
		}
	})
}
