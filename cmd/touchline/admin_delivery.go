package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/message"
)

func deliveriesCommand(leaf leafFunc) *cobra.Command {
	c := leaf("deliveries", "list the messages to a number in any state, the newest first, with attempts and reason", cobra.NoArgs, findDeliveries)
	c.Flags().String("number", "", "mobile number of the person, in any spelling")
	return c
}

// findDeliveries answers "the SMS never came".
func findDeliveries(ctx context.Context, sh *shell, _ []string) error {
	number, err := sh.Phones.Parse(sh.text("number"))
	if err != nil {
		return errUsage("--number must be a complete mobile number")
	}
	found, err := sh.Deliveries.DeliveriesTo(ctx, sh.by, message.NumberDeliverySearch{Number: number}, listLimit)
	if err != nil {
		return err
	}
	if sh.json { // as the API does
		return printLines(sh, found, func(d message.DeliveryRecord) any { return admin.DeliveryJSON(d) })
	}
	return printTable(sh, "ID\tCHANNEL\tKIND\tSTATE\tREASON\tCAUSE\tATTEMPTS\tQUEUED\tCHANGED\tCOACH\tNAME", found, func(d message.DeliveryRecord) []any {
		return []any{
			d.ID, d.Channel, d.Kind, d.State, orDash(d.Reason), orDash(string(d.Cause)), d.Attempts, formatTime(d.CreatedAt), formatTime(d.UpdatedAt), orDash(d.CoachID), orDash(d.CoachName),
		}
	})
}
