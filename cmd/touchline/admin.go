package main

import (
	"context"
	"errors"
	"os/user"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
)

// shell holds the services, the flags and the output of one command.
type shell struct {
	*cobra.Command
	*server.Operators
	by   actor.Operator
	json bool
}

// text returns the value of a flag of the command.
func (sh *shell) text(name string) string { return sh.Flag(name).Value.String() }

// adminCommand returns the operators' commands. Running replicas see their effect at the next request.
func adminCommand(environ []string) *cobra.Command {
	c := group("admin", "commands for operators: tokens, verifications, search of coaches and messages", `Commands for operators. The service may be running: a change takes effect at its
next request. The audit log records every change.

Each command also takes the settings of "touchline serve", as variables or flags. Use
the database settings of the service.`)
	c.PersistentFlags().Bool("json", false, "print JSON: an object, or for a list one object on each line")
	open := openOperators(withSettings(c, environ))
	// leaf returns a command that runs do with the services.
	leaf := func(use, short string, args cobra.PositionalArgs, do func(context.Context, *shell, []string) error) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(c *cobra.Command, args []string) error {
			operators, err := open(c.Context())
			if err != nil {
				return err
			}
			sh := &shell{Command: c, Operators: operators, by: actor.Operator{Name: operator.ShellName(userName())}}
			sh.json = asJSON(c)
			return failed(errors.Join(do(c.Context(), sh, args), operators.Close()))
		}}
	}
	c.AddCommand(
		group("token", "tokens for the operators' listener", "", tokenCommands(leaf)...),
		group("kyc", "verifications of coaches", "", kycCommands(leaf)...),
		group("coach", "search of coaches", "", leaf("find <number or name>", "find coaches by mobile number, or by the start of the name", cobra.ExactArgs(1), findCoach)),
		group("mail", "stopped addresses", "", mailCommand(leaf)),
		group("person", "export and erasure for a person who cannot sign in", "", personCommands(leaf)...),
		group("player", "erasure of players", "", playerCommands(leaf)...),
		group("log", "the log of consents", "", logCommands(leaf)...),
		deliveriesCommand(leaf),
	)
	return c
}

// openOperators returns a function that opens the services of operators with the settings that load returns.
func openOperators(load func() (*config.Config, error)) func(context.Context) (*server.Operators, error) {
	return func(ctx context.Context) (*server.Operators, error) {
		cfg, err := load()
		if err != nil {
			return nil, err
		}
		operators, err := server.OpenOperators(ctx, cfg, server.Options{})
		return operators, failed(err)
	}
}

// withSettings adds hidden flags of all settings to a command and its subcommands, and returns a function that reads the
// settings. Use it instead of settingsCommand if the command has arguments or subcommands.
func withSettings(c *cobra.Command, environ []string) func() (*config.Config, error) {
	settings := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	for _, s := range config.Settings() {
		if s.Flag != "" {
			settings.String(s.Flag, "", s.Help)
		}
		if s.FileName != "" {
			name := strings.TrimPrefix(s.FileName, "TOUCHLINE_")
			settings.String(strings.ToLower(strings.ReplaceAll(name, "_", "-")), "", s.Help)
		}
	}
	settings.VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	c.PersistentFlags().AddFlagSet(settings)
	return func() (*config.Config, error) {
		var set []string
		settings.VisitAll(func(f *pflag.Flag) {
			if f.Changed {
				set = append(set, "--"+f.Name+"="+f.Value.String())
			}
		})
		return load(set, environ)
	}
}

// leafFunc returns a command of the operators.
type leafFunc = func(use, short string, args cobra.PositionalArgs, do func(context.Context, *shell, []string) error) *cobra.Command

// userName returns the user who runs the command, for the audit log.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	if u.Username == "" {
		return u.Uid
	}
	return u.Username
}
