package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/platform/fault"
)

func mailCommands() []command {
	return []command{{
		words: "mail allow", args: []string{"<address>"}, help: "allow mail to an address again, at its holder's request", run: allowMail,
		flags: func(f *flag.FlagSet) {
			f.String("reason", "", "reason for the audit log, without the address")
		},
	}}
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
	fmt.Fprintln(sh.stdout, "The address gets mail again.")
	return nil
}
