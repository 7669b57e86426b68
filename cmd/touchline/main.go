// Command touchline runs the service, with which coaches sign in, add students and
// their guardians, and ask both for their consent. It also has the operators' commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	_ "modernc.org/sqlite" // the driver of SQLite

	"github.com/touchline/touchline/internal/platform/buildinfo"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
)

const about = `Touchline signs in coaches, links students with their guardians, and asks both
for their consent before a student gets an app service.

Every setting is an environment variable (TOUCHLINE_ADDR) and a flag (--addr).
"touchline config --help" lists them.`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal shuts down gracefully. After it, a second one kills the process.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs one command and returns the exit status, which exitCodes explains.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	root := newRoot(environ)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	return report(command, err)
}

func newRoot(environ []string) *cobra.Command {
	root := group("touchline", "", about,
		settingsCommand("serve", "migrate the database and run the service", environ, serve),
		demoCommand(environ),
		migrateCommand(environ),
		copyCommand(),
		backupCommand(environ),
		restoreCommand(environ),
		adminCommand(environ),
		keysCommand(environ),
		webhookCommand(environ),
		verifyCommand(),
		auditCommand(environ),
		withJSON(settingsCommand("doctor", "check database, providers, certificates, disk, limits and settings, and say what to do; sends nothing; exit status 3 if a check failed", environ, diagnose)),
		retentionCommand(environ),
		withJSON(settingsCommand("config", "print every setting with its value, default and source", environ, printConfig)),
		withJSON(settingsCommand("sms-templates", "print the texts of SMS, for registration in India", environ, printSMSTemplates)),
		withJSON(settingsCommand("whatsapp-templates", "print the templates of WhatsApp messages, as requests to Meta, one on each line", environ, printWhatsAppTemplates)),
		textsCommand(environ),
		versionCommand(),
		&cobra.Command{Use: "exit-codes", Short: "what the exit status of a command means", Long: exitCodes},
		withJSON(settingsCommand("health", "ask the service on this machine whether it is ready; exit status 1 if it is not", environ, health)),
		manualCommand(),
	)
	root.Version = fmt.Sprint("touchline ", buildinfo.Read())
	root.SetVersionTemplate("{{.Version}}\n")
	root.SilenceErrors, root.SilenceUsage = true, true
	return root
}

// group returns a command that only has other commands.
func group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New("choose a command")
		}
		if args[0] == "help" {
			return c.Help()
		}
		err := fmt.Errorf("unknown command %q", strings.Join(args, " "))
		if similar := c.SuggestionsFor(args[0]); len(similar) > 0 {
			err = fmt.Errorf("%w; did you mean %q?", err, similar[0])
		}
		return err
	}
	c.Args = cobra.ArbitraryArgs
	c.AddCommand(commands...)
	return c
}

// settingsCommand returns a command that takes settings as flags, and the flags that are added to it. Package config reads
// the settings, because it reports all errors together and never prints a value that may be a secret.
func settingsCommand(use, short string, environ []string, do func(context.Context, *config.Config, *cobra.Command) error) *cobra.Command {
	return &cobra.Command{
		Use: use + " [--setting=value …]", Short: short, DisableFlagParsing: true,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return completions(), cobra.ShellCompDirectiveNoSpace
		},
		RunE: func(c *cobra.Command, args []string) error {
			args, err := takeFlags(c, args)
			if err != nil {
				return err
			}
			cfg, err := load(args, environ)
			if errors.Is(err, config.ErrHelp) {
				c.Println(short + "\n")
				if c.HasAvailableLocalFlags() {
					c.Printf("Flags:\n%s\n", c.LocalFlags().FlagUsages())
				}
				c.Print("Each setting as a flag and as an environment variable, with its default and its meaning:\n\n", short)
				return failed(config.Usage(c.OutOrStdout()))
			}
			if err != nil {
				return err
			}
			return failed(do(c.Context(), cfg, c))
		},
	}
}

// completions returns the flags of all settings, for the shell.
func completions() []string {
	var flags []string
	for _, s := range config.Settings() {
		if s.Flag != "" {
			flags = append(flags, cobra.CompletionWithDesc("--"+s.Flag+"=", s.Help))
		}
	}
	return flags
}

// load reads the settings. The error is config.ErrHelp or a settingsError.
func load(args, environ []string) (*config.Config, error) {
	cfg, err := config.Load(args, environ, server.CheckTiers, server.CheckNames, server.CheckProviders, server.CheckNotice, server.CheckLanguages, server.CheckDatabaseURL)
	if err != nil && !errors.Is(err, config.ErrHelp) {
		err = settingsError{err}
	}
	if err == nil {
		err = server.UseLanguages(cfg)
	}
	return cfg, err
}
