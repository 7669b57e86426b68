package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
)

// endsWithSecret says what ends with the service secret. The first lines are the rows of server.EndedWithSecret.
const endsWithSecret = `With the service secret these end at once:
- all sessions of coaches, guardians, students and browsers, and their push subscriptions: everyone signs in again;
- known devices: until its next sign-in a phone has the limits of an unknown one;
- codes that were sent and sign-ins that have begun: people ask for a new code;
- links in messages to families: they answer after a sign-in, or by the link of the next message. Messages that have not left yet get a link that works;
- addresses of calendars, and links to answer about trainings: people make a new address;
- links in mails to end mail: the settings of a person still end it;
- reports of providers about messages that have left, and calls in progress;
- positions in lists that a program is reading: it begins again.
These live on: accounts, consents, medical and legal names, disputes, stops, former numbers, passkeys, webhooks with their secrets, operators'
tokens, certificates, repeated calls with an Idempotency-Key, the log of consents and receipts. The keys that sign the log and that hash
former numbers, disputes and repeated calls stay as they are.
`

// rotateSecretCommand returns the command that replaces the service secret. load returns the settings.
func rotateSecretCommand(load func() (*config.Config, error)) *cobra.Command {
	return destructive(&cobra.Command{
		Use: "rotate-secret", Short: "replace the service secret of a stopped service, and end what depends on it", Args: cobra.NoArgs,
		Long: `Replace the secret from which the service derives its tokens and with which it encrypts medical information, legal names and
other values. Do it if the secret may be known to others: a leaked database together with a leaked master key. Rotate the master
key first.

No replica may run; the command refuses to start otherwise. If it is interrupted, run it again: it continues, and no service
starts before that.

` + endsWithSecret,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := load()
			if err != nil {
				return err
			}
			if dryRun(c) {
				return failed(printResult(c, map[string]string{"ends": endsWithSecret}, func(w io.Writer) error {
					_, err := io.WriteString(w, "The command would replace the service secret.\n"+endsWithSecret)
					return err
				}))
			}
			fmt.Fprint(c.ErrOrStderr(), endsWithSecret)
			if err := confirm(c, "Replace the service secret?"); err != nil {
				return failed(err)
			}
			r, err := server.RotateSecret(c.Context(), cfg, server.Options{}, actor.Operator{Name: operator.ShellName(userName())})
			if err != nil {
				return failed(err)
			}
			return failed(printResult(c, r, func(w io.Writer) error { return printRotated(w, r) }))
		},
	})
}

func printRotated(w io.Writer, r auth.Rotated) error {
	ended := make([]string, 0, len(r.Ended))
	for _, what := range slices.Sorted(maps.Keys(r.Ended)) {
		ended = append(ended, fmt.Sprintf("%s: %d", what, r.Ended[what]))
	}
	fmt.Fprintf(w, "The service has a new secret. %d values are sealed with it.\nEnded: %s.\n", r.Sealed, strings.Join(ended, "; "))
	if r.Unreadable > 0 {
		fmt.Fprintf(w, "%d values were sealed with a secret that was lost before. They stay unreadable.\n", r.Unreadable)
	}
	_, err := fmt.Fprintln(w, "Start all replicas now.")
	return err
}
