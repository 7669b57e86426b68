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
	"syscall"

	"github.com/touchline/touchline/internal/platform/buildinfo"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
)

const usage = `Touchline signs in coaches, links students with their guardians, and asks both
for their consent before a student gets an app service.

Usage:

	touchline serve                migrate the database and run the service
	touchline demo                 serve a club with example data, deleted when it stops
	touchline migrate              migrate the database and exit
	touchline admin                commands for operators: tokens, verifications, search of coaches and messages
	touchline config               print every setting with its value, default and source
	touchline sms-templates        print the texts of SMS, for registration in India
	touchline whatsapp-templates   print the templates of WhatsApp messages, as requests to Meta, one on each line
	touchline version              print the release and the commit

Every setting is an environment variable (TOUCHLINE_ADDR) and a flag (--addr).
"touchline config --help" lists them.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal shuts down gracefully. After it, a second one kills the process.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run runs one command and returns the exit status: 0 for success, 1 for an error, 2
// for wrong arguments or settings.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return 2
	}
	command, args := args[0], args[1:]
	var do func(context.Context, *config.Config, io.Writer, io.Writer) error
	switch command {
	case "serve":
		do = serve
	case "migrate":
		do = migrate
	case "admin":
		return runAdmin(ctx, args, environ, stdout, stderr)
	case "demo":
		return runDemo(ctx, args, stdout, stderr)
	case "config":
		return printConfig(args, environ, stdout, stderr)
	case "sms-templates":
		do = printSMSTemplates
	case "whatsapp-templates":
		do = printWhatsAppTemplates
	case "version", "-v", "--version":
		fmt.Fprintln(stdout, "touchline", buildinfo.Read())
		return 0
	case "help", "-h", "--help":
		fmt.Fprint(stdout, usage)
		return 0
	default:
		fmt.Fprintf(stderr, "touchline: unknown command %q\n\n%s", command, usage)
		return 2
	}
	cfg, code := load(args, environ, stdout, stderr)
	if cfg == nil {
		return code
	}
	if err := do(ctx, cfg, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "touchline:", err)
		return 1
	}
	return 0
}

// load reads the settings. If the flags ask for help or a setting is invalid, it prints
// the help or the errors and returns nil and the exit status.
func load(args, environ []string, stdout, stderr io.Writer) (*config.Config, int) {
	cfg, err := config.Load(args, environ, server.CheckTiers, server.CheckDatabaseURL)
	if errors.Is(err, config.ErrHelp) {
		fmt.Fprint(stdout, "Each setting as a flag and as an environment variable, with its default and its meaning:\n\n")
		config.Usage(stdout)
		return nil, 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "touchline: invalid settings:")
		fmt.Fprintln(stderr, err)
		return nil, 2
	}
	return cfg, 0
}
