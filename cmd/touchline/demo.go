package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/cmd/touchline/demo"
	"github.com/touchline/touchline/internal/operator"
	"github.com/touchline/touchline/internal/platform/actor"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/phone"
	"github.com/touchline/touchline/internal/server"
)

// The default addresses of the demo.
const (
	demoAddr      = "127.0.0.1:8080"
	demoAdminAddr = "127.0.0.1:8081"
)

// demoCommand returns the command that serves a club in a temporary folder until it is stopped, and
// deletes the folder. It ignores the settings of the environment, which may name a real database, and refuses names that no setting has.
func demoCommand(environ []string) *cobra.Command {
	var addr, adminAddr string
	c := &cobra.Command{Use: "demo", Short: "serve a club with example data, deleted when it stops", Args: cobra.NoArgs}
	c.Flags().StringVar(&addr, "addr", demoAddr, "loopback address of the service")
	c.Flags().StringVar(&adminAddr, "admin-addr", demoAdminAddr, "loopback address of the operators' listener")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := config.CheckNames(environ); err != nil {
			return failed(settingsError{err})
		}
		folder, err := os.MkdirTemp("", "touchline-demo-")
		if err != nil {
			return failed(err)
		}
		err = serveDemo(c.Context(), folder, addr, adminAddr, c.OutOrStdout(), c.ErrOrStderr())
		return failed(errors.Join(err, os.RemoveAll(folder)))
	}
	return c
}

// serveDemo serves the club of the demo, with its data in folder.
func serveDemo(ctx context.Context, folder, addr, adminAddr string, stdout, stderr io.Writer) error {
	cfg, public, operators, err := listenDemo(ctx, folder, addr, adminAddr)
	if err != nil {
		return err
	}
	closeListeners := func() { _, _ = public.Close(), operators.Close() }
	var clock demo.Clock
	var terminal demo.Terminal
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	app, err := server.Open(ctx, cfg, server.Options{Now: clock.Now, Log: log, Terminal: &terminal})
	if err != nil {
		closeListeners()
		return err
	}
	defer app.Close()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- app.Serve(serving, public, operators) }()

	fmt.Fprintln(stdout, "Building the club of the demo …")
	adminURL := "http://" + operators.Addr().String()
	token, err := demoToken(ctx, cfg)
	var people []demo.Person
	if err == nil {
		people, err = demo.Build(ctx, demo.Service{
			URL: cfg.PublicURL, AdminURL: adminURL, OperatorToken: token, Clock: &clock, Terminal: &terminal,
		})
	}
	switch {
	case ctx.Err() != nil: // stopped while the club was built
		return <-served
	case err != nil:
		stop()
		return errors.Join(err, <-served)
	}
	terminal.Show(stdout)
	printDemo(stdout, cfg.PublicURL, adminURL, token, people)
	return <-served
}

// listenDemo returns the settings of the demo and opens both listeners. If both addresses are
// the defaults and one is in use, it takes free ports.
func listenDemo(ctx context.Context, folder, addr, adminAddr string) (cfg *config.Config, public, operators net.Listener, err error) {
	cfg, err = config.Load([]string{
		"--addr=" + addr, "--admin-addr=" + adminAddr, "--data-dir=" + filepath.Join(folder, "data"),
		"--countries=IN", "--kyc=on", "--requests-per-address-minute=0", "--shutdown-drain=0s",
	}, nil, server.CheckTiers, server.CheckNames, server.CheckProviders, server.CheckNotice)
	if err != nil {
		return nil, nil, nil, settingsError{err}
	}
	for _, address := range []string{cfg.Addr, cfg.AdminAddr} { // refuses --admin-addr=off, too
		if !config.IsLoopback(address) {
			return nil, nil, nil, settingsError{fmt.Errorf("%s is not a loopback address: codes and a token are printed in the terminal, so other computers must not reach the demo", address)}
		}
	}
	public, operators, err = listen(ctx, cfg)
	if errors.Is(err, syscall.EADDRINUSE) && addr == demoAddr && adminAddr == demoAdminAddr {
		return listenDemo(ctx, folder, "127.0.0.1:0", "127.0.0.1:0")
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return cfg.WithListenAddr(public.Addr()), public, operators, nil
}

// demoToken creates an operator token with every scope.
func demoToken(ctx context.Context, cfg *config.Config) (string, error) {
	ops, err := server.OpenOperators(ctx, cfg, server.Options{})
	if err != nil {
		return "", err
	}
	defer ops.Close()
	by := actor.Operator{Name: operator.ShellName("demo")}
	_, secret, err := ops.Tokens.Create(ctx, by, operator.TokenRequest{Name: "demo", Scopes: operator.Scopes, Days: operator.DefaultDays})
	return secret, err
}

func printDemo(out io.Writer, url, adminURL, token string, people []demo.Person) {
	fmt.Fprintf(out, `
A club to look at. It is deleted when you stop it with Ctrl+C.

  pages       %s
  phones      %s/dev/phones
  API         %s/docs
  operators   %s, token %s

Sign in with one of these numbers. The code is on its phone, and is printed here.

`, url, url, url, adminURL, token)
	tw := newTabWriter(out)
	for _, p := range people {
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\n", p.Role, phone.Number(p.Number).Format(), p.Name, p.About)
	}
	_ = tw.Flush() // a terminal that cannot be written to shows nothing
	fmt.Fprintln(out)
}
