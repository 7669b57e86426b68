package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/platform/buildinfo"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/server"
)

// serve runs the service until ctx ends.
func serve(ctx context.Context, cfg *config.Config, c *cobra.Command) error {
	stdout := c.OutOrStdout()
	if runtime.GOMAXPROCS(0) == 1 {
		// On one processor, goroutines that wake each other delay new requests by seconds.
		runtime.GOMAXPROCS(2)
	}
	log := logger(cfg, c.ErrOrStderr())
	for _, warning := range cfg.Warnings(time.Now()) {
		log.Warn(warning)
	}
	// Listen first: if the port is in use, no data folder is created.
	public, operators, err := listen(ctx, cfg)
	if err != nil {
		return err
	}
	cfg = cfg.WithListenAddr(public.Addr())
	closeListeners := func() {
		_ = public.Close()
		if operators != nil {
			_ = operators.Close()
		}
	}
	lock, err := server.LockDatabase(ctx, cfg, log)
	if err != nil {
		closeListeners()
		return err
	}
	defer lock.Close()
	app, err := server.Open(ctx, cfg, server.Options{Log: log, Terminal: stdout})
	if err != nil {
		closeListeners()
		return err
	}
	defer app.Close()
	tuneGC()
	fmt.Fprintf(stdout, "Touchline answers at %s (API documentation: %s/docs)\n", cfg.PublicURL, cfg.PublicURL)
	if operators != nil {
		scheme := "http"
		if cfg.TLSOn() {
			scheme = "https"
		}
		fmt.Fprintf(stdout, "The operators' API answers at %s://%s\n", scheme, operators.Addr())
	}
	if cfg.Development() {
		if cfg.DevelopmentPhones() {
			fmt.Fprintf(stdout, "The phones of coaches and families: %s/dev/phones\n", cfg.PublicURL)
		}
		fmt.Fprintln(stdout, "Development mode: SMS are printed here, not sent. Limits on OTPs and messages are off, unless you set them. Stop with Ctrl+C.")
	}
	build := buildinfo.Read()
	log.Info("started", "version", build.Release, "revision", build.Commit, "settings", cfg.ConfiguredNames())
	if err := app.Serve(ctx, public, operators); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}

// listen opens both listeners. operators is nil if ADMIN_ADDR is off.
func listen(ctx context.Context, cfg *config.Config) (public, operators net.Listener, err error) {
	public, err = new(net.ListenConfig).Listen(ctx, "tcp", cfg.Addr)
	if err != nil {
		return nil, nil, err
	}
	if !cfg.AdminOn() {
		return public, nil, nil
	}
	operators, err = new(net.ListenConfig).Listen(ctx, "tcp", cfg.AdminAddr)
	if err != nil {
		_ = public.Close()
		return nil, nil, err
	}
	return public, operators, nil
}

// memoryLimit bounds the heap in bytes while pictures are decoded or many connections are open.
// It is above picture.MemoryLimit, because 6,000 connections alone hold about 80 MB: with that
// limit the collector took more than half of the processor time (docs/decisions/0030).
const memoryLimit = 288 << 20

// tuneGC lets the heap grow to five times the live data before a collection: a few
// megabytes for 6 % less CPU time per sign-in.
func tuneGC() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(memoryLimit)
}

// migrate applies the missing migrations.
func migrate(ctx context.Context, cfg *config.Config, c *cobra.Command) error {
	if err := server.Migrate(ctx, cfg); err != nil {
		return err
	}
	return printResult(c, map[string]bool{"up_to_date": true}, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, "The database is up to date.")
		return err
	})
}

func versionCommand() *cobra.Command {
	return withJSON(&cobra.Command{
		Use: "version", Short: "print the release and the commit", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			build := buildinfo.Read()
			return failed(printResult(c, map[string]string{"release": build.Release, "commit": build.Commit, "go": build.Go}, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, c.Root().Version)
				return err
			}))
		},
	})
}

// printConfig prints every setting, as a table or with --json as JSON.
func printConfig(_ context.Context, cfg *config.Config, c *cobra.Command) error {
	if asJSON(c) {
		return cfg.PrintJSON(c.OutOrStdout())
	}
	return cfg.Print(c.OutOrStdout())
}

// logger returns the logger of LOG_LEVEL and LOG_FORMAT.
func logger(cfg *config.Config, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}
