package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/platform/fault"
)

func mailCommand(leaf leafFunc) *cobra.Command {
	allow := leaf("allow <address>", "allow mail to an address again, at its holder's request", cobra.ExactArgs(1), allowMail)
	allow.Flags().String("reason", "", "reason for the audit log, without the address")
	return allow
}

func allowMail(ctx context.Context, sh *shell, args []string) error {
	address := strings.TrimSpace(args[0])
	if local, domain, _ := strings.Cut(address, "@"); local == "" || domain == "" {
		return errUsage("%q is not an e-mail address", address)
	}
	reason, err := admin.Reason(sh.text("reason"))
	if err != nil {
		return err
	}
	err = sh.Mail.AllowAddressForOperator(ctx, sh.by, address, reason)
	if fault.KindOf(err) == fault.NotFound {
		return errors.New("mail to this address is not stopped")
	}
	if err != nil {
		return err
	}
	return printResult(sh.Command, map[string]bool{"allowed": true}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, "The address gets mail again.")
		return err
	})
}
