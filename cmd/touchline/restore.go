package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/server"
)

// restoreCommand returns the command that restores a backup.
func restoreCommand(environ []string) *cobra.Command {
	var identity string
	c := destructive(withJSON(&cobra.Command{
		Use: "restore <file> --identity <file>", Short: "restore a backup into an empty database", Args: cobra.ExactArgs(1),
		Long: `Write a backup into the empty database of DATABASE_URL, of either engine, and its files into FILES, and compare
the number of rows and a checksum of each table. It never overwrites a database with data, and no service may run on it.
A backup that is damaged or not complete adds no row. - is the standard input.

If it is interrupted, run it again with the same arguments: no service starts on the database before that.

The file ERASURES gets the lines of the backup that it does not have: the service then erases again what was
erased after the backup. With --dry-run the command reads and checks the whole backup.

The command takes the settings of "touchline serve", as variables or flags: database, files and ERASURES.`,
	}))
	load := withSettings(c, environ)
	c.Flags().StringVar(&identity, "identity", "", identityHelp)
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		return failed(restore(c, cfg, args[0], identity))
	}
	return c
}

func restore(c *cobra.Command, cfg *config.Config, name, identity string) error {
	a, closeAll, err := openBackup(c, name, identity)
	if err != nil {
		return err
	}
	defer closeAll()
	to, what := database.Label(cfg.DatabaseURL.Reveal()), describeBackup(a.Manifest)
	if dryRun(c) {
		contents, err := a.Check()
		if err != nil {
			return err
		}
		return printResult(c, restoreJSON(a.Manifest, contents), func(w io.Writer) error {
			if err := printContents(w, what, contents); err != nil {
				return err
			}
			_, err := fmt.Fprintf(w, "It is complete. The command would restore it into %s.\n", to)
			return err
		})
	}
	if err := confirm(c, fmt.Sprintf("Restore the backup of %s into %s?", formatTime(a.Manifest.CreatedAt), to)); err != nil {
		return err
	}
	contents, err := server.Restore(c.Context(), cfg, a, progress(c.ErrOrStderr(), "restored"))
	if errors.Is(err, dump.ErrNotEmpty) {
		return fmt.Errorf("%s: %w", to, err)
	}
	if err != nil {
		return err
	}
	return printResult(c, restoreJSON(a.Manifest, contents), func(w io.Writer) error {
		if err := printContents(w, what, contents); err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, `It was restored into %s. The rows and the checksum of each table are equal.

Before you start the service:
- Give it the master key that it had: MASTER_KEY, its file, or master.key in DATA_DIR.
- Set ERASURES to the newest file that you have: what was erased after the backup is erased again.
- If the file LOG_CHECKPOINT or a witness has a checkpoint that is newer than the backup, the log of consents stops.
  Continue it with "touchline admin log continue".
- Never start a service on the old database again: it would send its messages a second time.
`, to)
		return err
	})
}

func restoreJSON(m dump.Manifest, c dump.Contents) map[string]any {
	return map[string]any{
		"created_at": m.CreatedAt, "release": m.Release, "engine": m.Engine, "rows": c.Rows(), "files": c.Files, "tables": c.Tables, "erasures": c.Erasures,
	}
}
