// Command touchline is the service: one program for coaches to sign in, add
// students with their guardians, and ask both for their consent.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/server"
)

const usage = `Touchline signs coaches in, links students with their guardians, and asks both
for their consent before any app service works for them.

Usage:

	touchline serve     answer requests (migrates the database first)
	touchline migrate   bring the database up to date, and stop
	touchline admin     what operators do: tokens, verifications, coaches, audit log
	touchline config    print every setting: its value, its default, its source
	touchline version   print the version

Every setting is an environment variable (TOUCHLINE_ADDR) and, but for secrets,
a flag (--addr). "touchline config" lists them.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal stops with care; with this the next one ends at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run carries out one command and returns the exit status: 0 done, 1 failed,
// 2 asked wrongly.
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
		return operate(ctx, args, environ, stdout, stderr)
	case "config":
		return printConfig(args, environ, stdout, stderr)
	case "version":
		fmt.Fprintln(stdout, "touchline", version())
		return 0
	case "help", "-h", "--help":
		fmt.Fprint(stdout, usage)
		return 0
	default:
		fmt.Fprintf(stderr, "touchline: there is no command %q\n\n%s", command, usage)
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

// load reads the settings. Where it returns none it has said why, or has given the
// help that was asked for, and the exit status goes with it.
func load(args, environ []string, stdout, stderr io.Writer) (*config.Config, int) {
	cfg, err := config.Load(args, environ, server.CheckTiers)
	if errors.Is(err, config.ErrHelp) {
		config.Usage(stdout)
		return nil, 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "touchline: these settings cannot be used:")
		fmt.Fprintln(stderr, err)
		return nil, 2
	}
	return cfg, 0
}
