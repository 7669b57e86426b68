package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/platform/buildinfo"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/server"
)

// serve runs the service until ctx ends.
func serve(ctx context.Context, cfg *config.Config, c *cobra.Command) error {
	stdout := c.OutOrStdout()
	if runtime.GOMAXPROCS(0) == 1 {
		// On one processor, goroutines that wake each other delay new requests by seconds.
		runtime.GOMAXPROCS(2)
	}
	if cfg.InMemory() {
		folder, err := memoryFolder()
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		cfg = cfg.WithDataDir(folder)
		fmt.Fprintf(stdout, "The data is in %s until the service stops\n", folder)
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
	startup, err := server.NewStartup(cfg, log, public, operators)
	if err != nil {
		closeListeners()
		return err
	}
	lock, err := server.LockDatabase(ctx, cfg, startup.WaitsForOther)
	if err != nil {
		startup.Stop()
		closeListeners()
		return err
	}
	defer lock.Close()
	app, err := server.Open(ctx, cfg, server.Options{Log: log, Terminal: stdout, Migration: startup.Migration})
	startup.Stop()
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
		log.Warn("this is a development server: never put a proxy or a tunnel in front of it, because everyone who reaches it could read every code; see docs/testing.md")
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

// sharedMemory is a file system in memory of Linux.
const sharedMemory = "/dev/shm"

// memoryFolder creates a temporary folder, in memory where the system has a file system there.
func memoryFolder() (string, error) {
	if folder, err := os.MkdirTemp(sharedMemory, "touchline-"); err == nil {
		return folder, nil
	}
	return os.MkdirTemp("", "touchline-")
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
// limit, and with 288 MiB when they all use TLS, the collector took more than half of the processor time (docs/decisions/0030).
const memoryLimit = 344 << 20

// tuneGC lets the heap grow to five times the live data before a collection: a few
// megabytes for 6 % less CPU time per sign-in.
func tuneGC() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(memoryLimit)
}

// migrateCommand returns the command that migrates the database.
func migrateCommand(environ []string) *cobra.Command {
	c := withJSON(settingsCommand("migrate", "migrate the database and exit", environ, migrate))
	c.Flags().Bool("plan", false, "print the migrations that the command would apply, and change nothing")
	return c
}

// migrate applies the missing migrations and prints them. With --plan it only prints them.
func migrate(ctx context.Context, cfg *config.Config, c *cobra.Command) error {
	if plan, _ := c.Flags().GetBool("plan"); plan {
		return planMigrations(ctx, cfg, c)
	}
	type applied struct {
		Migration    string `json:"migration"`
		Milliseconds int64  `json:"milliseconds"`
	}
	all, last := []applied{}, ""
	newer, err := server.Migrate(ctx, cfg, func(e database.MigrationEvent) {
		switch line := e.Migration + " " + string(e.State); {
		case e.State == database.MigrationApplied:
			all = append(all, applied{e.Migration, e.Took.Milliseconds()})
		case e.State != database.MigrationRuns && line != last:
			last = line
			c.PrintErrln(strings.TrimSpace(line))
		}
	})
	if err != nil {
		return err
	}
	return printResult(c, map[string]any{"up_to_date": true, "applied": all, "newer": newer}, func(w io.Writer) error {
		for _, m := range all {
			fmt.Fprintf(w, "%s was applied in %d ms\n", m.Migration, m.Milliseconds)
		}
		fmt.Fprintln(w, upToDate(newer))
		return nil
	})
}

func planMigrations(ctx context.Context, cfg *config.Config, c *cobra.Command) error {
	pending, newer, err := server.PendingMigrations(ctx, cfg)
	if err != nil {
		return err
	}
	names := make([]string, len(pending))
	for i, m := range pending {
		names[i] = m.Name
	}
	return printResult(c, map[string]any{"up_to_date": len(names) == 0, "pending": names, "newer": newer}, func(w io.Writer) error {
		for _, name := range names {
			fmt.Fprintln(w, name+" would be applied")
		}
		if len(names) == 0 {
			fmt.Fprintln(w, upToDate(newer))
		}
		return nil
	})
}

func upToDate(newer int64) string {
	if newer != 0 {
		return fmt.Sprintf("A newer release has migrated this database (migration %d): this release runs with it, and has nothing to apply.", newer)
	}
	return "The database is up to date."
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
