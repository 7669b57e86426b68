package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/admin"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/fault"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/server"
	"github.com/touchline/touchline/internal/store"
)

// personCommands return the commands for a person who cannot sign in. They need the master key.
func personCommands(leaf leafFunc) []*cobra.Command {
	export := leaf("export", "write what the accounts of a number have to ZIP files, as GET /api/me/export", cobra.NoArgs, exportPerson)
	export.Flags().String("to", ".", "folder for the files coach.zip, guardian.zip and student.zip")
	erase := destructive(leaf("erase", "erase the accounts of a number, as the person can with DELETE /api/me", cobra.NoArgs, erasePerson))
	for _, c := range []*cobra.Command{export, erase} {
		c.Flags().String("number", "", "mobile number of the person")
		c.Flags().String("reason", "", "reason for the audit log, without personal data")
	}
	return []*cobra.Command{export, erase}
}

func playerCommands(leaf leafFunc) []*cobra.Command {
	erase := destructive(leaf("erase <player_id>", "remove a player and erase its data at once", cobra.ExactArgs(1), erasePlayer))
	erase.Flags().String("reason", "", "reason for the audit log, without personal data")
	return []*cobra.Command{erase}
}

// person returns the services, the reason and the accounts of --number.
func (sh *shell) person(ctx context.Context) (*server.People, string, []privacy.PersonAccount, error) {
	number, err := sh.Phones.Parse(sh.text("number"))
	if err != nil {
		return nil, "", nil, errUsage("--number must be a complete mobile number")
	}
	reason, err := admin.Reason(sh.text("reason"))
	if err != nil {
		return nil, "", nil, err
	}
	people, err := sh.People(ctx)
	if err != nil {
		return nil, "", nil, err
	}
	accounts, err := people.AccountsOf(ctx, number)
	if err == nil && len(accounts) == 0 {
		err = errors.New("this number has no account")
	}
	return people, reason, accounts, err
}

func exportPerson(ctx context.Context, sh *shell, _ []string) error {
	people, reason, accounts, err := sh.person(ctx)
	if err != nil {
		return err
	}
	for _, a := range accounts {
		by := a.Account
		name := filepath.Join(sh.text("to"), string(by.Role)+".zip")
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if err = sh.Tokens.Record(ctx, sh.by, operator.PersonExported, "account", by.AccountID, reason); err == nil {
			err = people.WriteExport(ctx, by, f)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return errors.Join(err, os.Remove(name))
		}
		err = printResult(sh.Command, map[string]string{"account": by.AccountID, "role": string(by.Role), "file": name}, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "The data of the %s is in %s.\n", by.Role, name)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// erasure is a player or an account that a command erases.
type erasure struct {
	kind, id string
	// effect is a sentence that says what goes.
	effect string
	do     func(ctx context.Context, by actor.Operator, id, reason string) error
}

func erasePerson(ctx context.Context, sh *shell, _ []string) error {
	people, reason, accounts, err := sh.person(ctx)
	if err != nil {
		return err
	}
	var list []erasure
	for _, a := range accounts {
		id, role := a.Account.AccountID, string(a.Account.Role)
		effect := fmt.Sprintf("number, sessions, messages and keys go; the approvals end, and %d players lose this %s", a.Players, role)
		if a.Account.Role == actor.Coach {
			effect = fmt.Sprintf("profile, documents and sessions go, and %d players are removed; their data goes after RETAIN_DELETED", a.Players)
		}
		list = append(list, erasure{role, id, effect, people.EraseAccountFor})
	}
	return sh.erase(ctx, people, reason, list)
}

func erasePlayer(ctx context.Context, sh *shell, args []string) error {
	reason, err := admin.Reason(sh.text("reason"))
	if err != nil {
		return err
	}
	people, err := sh.People(ctx)
	if err != nil {
		return err
	}
	id := args[0]
	coachID, removed, err := people.Player(ctx, id)
	if fault.KindOf(err) == fault.NotFound {
		return errors.New("there is no such player, or it was erased")
	}
	if err != nil {
		return err
	}
	effect := "names, birth date, numbers, medical text, messages and notes go, and the accounts of the family that no other player names"
	if !removed {
		effect = "coach " + coachID + " loses the player; " + effect
	}
	return sh.erase(ctx, people, reason, []erasure{{
		store.PlayerErased, id, effect, people.ErasePlayerFor,
	}})
}

// erase erases what list names after the operator has confirmed it, and appends that to ERASURES.
func (sh *shell) erase(ctx context.Context, people *server.People, reason string, list []erasure) error {
	for _, e := range list {
		if dryRun(sh.Command) || !sh.json {
			err := printResult(sh.Command, map[string]string{"kind": e.kind, "id": e.id, "effect": e.effect}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "This would erase the %s %s: %s.\n", e.kind, e.id, e.effect)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	if dryRun(sh.Command) {
		return nil
	}
	if err := confirm(sh.Command, "This cannot be undone. Erase it?"); err != nil {
		return err
	}
	for _, e := range list {
		err := e.do(ctx, sh.by, e.id, reason)
		if err != nil {
			return fmt.Errorf("erase the %s %s: %w", e.kind, e.id, err)
		}
		err = printResult(sh.Command, map[string]string{"kind": e.kind, "id": e.id}, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "The %s %s was erased.\n", e.kind, e.id)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := people.Ledger.Append(ctx); err != nil {
		return fmt.Errorf("the erasure is complete, and the service will write it to ERASURES: %w", err)
	}
	return nil
}
