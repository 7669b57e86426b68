package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
)

// keysCommand returns the commands for the keys of the installation. Running replicas see their effect within seconds.
func keysCommand(environ []string) *cobra.Command {
	c := group("keys", "commands for the keys: list and replace them", `Commands for the keys of the installation. The service may be running, but for
rotate-secret. The audit log records every change. No command prints a key.

Each command also takes the settings of "touchline serve", as variables or flags:
database and master key. The chapter "Keys" of docs/operating.md has the steps.`)
	c.PersistentFlags().Bool("json", false, "print JSON: an object, or for a list one object on each line")
	load := withSettings(c, environ)
	open := openOperators(load)
	leaf := func(use, short string, do func(context.Context, *shell) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			operators, err := open(c.Context())
			if err != nil {
				return err
			}
			sh := &shell{Command: c, Operators: operators, by: actor.Operator{Name: operator.ShellName(userName())}, json: asJSON(c)}
			return failed(errors.Join(do(c.Context(), sh), operators.Close()))
		}}
	}
	rotate := destructive(leaf("rotate", "encrypt all keys under a new master key", rotateMasterKey))
	rotate.Flags().String("new-file", "", "file with the new master key; if it is missing, the command creates it with a new key")
	c.AddCommand(
		leaf("list", "list the keys, without the keys themselves", listKeys),
		rotate,
		leaf("rotate-signing", "sign access tokens with a new key from now on", rotateSigningKey),
		rotateSecretCommand(load),
	)
	return c
}

func listKeys(ctx context.Context, sh *shell) error {
	keys, err := sh.ListKeys(ctx)
	if err != nil {
		return err
	}
	return printTable(sh, "ID\tCREATED\tIN USE FROM\tENDS\tMASTER KEY\tPROTECTS", keys, func(k auth.KeyInfo) []any {
		return []any{k.ID, formatTime(k.CreatedAt), formatTime(k.ActiveAt), formatTime(k.EndsAt), orDash(k.MasterKey), k.Protects}
	})
}

func rotateMasterKey(ctx context.Context, sh *shell) error {
	path, dry := sh.text("new-file"), dryRun(sh.Command)
	if path == "" {
		return errUsage("--new-file is missing: it names the file with the new master key")
	}
	if !dry {
		question := "Encrypt all keys of this database under the master key in " + path + "? Each replica must accept it when it starts again."
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && sh.ManyReplicas() {
			question = "Make a new master key in " + path + "? No key of the database changes yet."
		}
		if err := confirm(sh.Command, question); err != nil {
			return err
		}
	}
	next, created, err := config.OpenNewMasterKey(path, !dry)
	if dry && errors.Is(err, fs.ErrNotExist) {
		next, err = make([]byte, 32), nil
		_, _ = rand.Read(next) // never fails
	}
	if err != nil {
		return err
	}
	id, err := auth.MasterKeyID(next)
	if err != nil {
		return err
	}
	var r auth.Reencrypted
	waits := created && sh.ManyReplicas() // other replicas lack a new file
	if !waits {
		if r, err = sh.RotateMasterKey(ctx, sh.by, next, dry); err != nil {
			return err
		}
	}
	result := map[string]any{"master_key": id, "file_created": created, "changed": r.Changed, "changed_before": r.Done}
	return printResult(sh.Command, result, func(w io.Writer) error {
		switch {
		case dry:
			_, err = fmt.Fprintf(w, "The command would encrypt %d keys under the new master key; it encrypts %d already.\n", r.Changed, r.Done)
		case waits:
			_, err = fmt.Fprintf(w, "%s has a new master key, %s. No key was changed yet. Give the file to each replica as MASTER_KEY_NEW_FILE,\n"+
				"restart the replicas one after the other, and run this command again.\n", path, id)
		default:
			_, err = fmt.Fprintf(w, "%d keys are now encrypted under the master key %s; it encrypted %d before.\n"+
				"Make it the master key (MASTER_KEY or its file) of each replica now. The previous one opens nothing in this database.\n", r.Changed, id, r.Done)
		}
		return err
	})
}

func rotateSigningKey(ctx context.Context, sh *shell) error {
	id, err := sh.RotateSigningKey(ctx, sh.by)
	if err != nil {
		return err
	}
	return printResult(sh.Command, map[string]string{"id": id}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "The key %s signs access tokens; running replicas use it within 10 seconds. Tokens of earlier keys stay valid until they end.\n", id)
		return err
	})
}
