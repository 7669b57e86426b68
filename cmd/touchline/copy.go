package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/server"
)

// copyCommand returns the command that moves a service to another database.
func copyCommand() *cobra.Command {
	var copied server.Copy
	c := withJSON(&cobra.Command{
		Use: "copy --from <database> --to <database>", Short: "copy a stopped service into an empty database, from SQLite to PostgreSQL or back", Args: cobra.NoArgs,
		Long: `Copy all tables of a database into an empty one, and compare the number of rows and a checksum of each table. The
databases are URLs as in DATABASE_URL: sqlite:<path> or postgres://… . PostgreSQL takes a password from PGPASSFILE too.

No service may run on either database; the command refuses to start otherwise. It never overwrites data. If it is
interrupted, run it again with the same arguments: it continues, and no service starts on the target before that.

With --from-files and --to-files, which are as in FILES, it also copies the files of documents. Without them they stay
where they are, and FILES keeps its value.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if copied.From == "" || copied.To == "" {
				return failed(errUsage("--from and --to are required"))
			}
			if (copied.FromFiles == "") != (copied.ToFiles == "") {
				return failed(errUsage("--from-files and --to-files belong together"))
			}
			copied.Progress = progress(c.ErrOrStderr(), "copied")
			r, err := copied.Run(c.Context())
			if err != nil {
				return failed(err)
			}
			return failed(printResult(c, r, func(w io.Writer) error { return printCopy(w, r, copied.ToFiles) }))
		},
	})
	c.Flags().StringVar(&copied.From, "from", "", "URL of the database that is copied")
	c.Flags().StringVar(&copied.To, "to", "", "URL of the empty database")
	c.Flags().StringVar(&copied.FromFiles, "from-files", "", "file store that is copied: file:<path> or s3://…")
	c.Flags().StringVar(&copied.ToFiles, "to-files", "", "file store into which the files are copied")
	return c
}

// progressInterval is the time between two lines about the progress.
const progressInterval = 10 * time.Second

// progress returns a function that prints how many rows were copied, read or restored.
func progress(w io.Writer, done string) func(string, int64) {
	var total, earlier int64
	var current string
	last := time.Now()
	return func(table string, rows int64) {
		if table != current {
			current, earlier = table, 0
		}
		total, earlier = total+rows-earlier, rows
		if time.Since(last) >= progressInterval {
			last = time.Now()
			fmt.Fprintf(w, "%d rows were %s; now the table %s\n", total, done, table)
		}
	}
}

func printCopy(w io.Writer, r dump.Result, toFiles string) error {
	if r.Resumed {
		fmt.Fprintln(w, "An interrupted copy was continued.")
	}
	fmt.Fprintf(w, "%d tables with %d rows were copied. The rows and the checksum of each table are equal.\n", len(r.Tables), r.Rows())
	if toFiles != "" {
		printFiles(w, r.Files, "copied")
	}
	fmt.Fprint(w, `
Before you start the service on the new database:
- Set DATABASE_URL to it. Keep every other setting, above all PUBLIC_URL: sessions and links stay valid.
- Keep the master key: MASTER_KEY, its file, or master.key in DATA_DIR. It is not in the database.
- Set LOG_CHECKPOINT and ERASURES to the files that the service has used: log-checkpoint and erasures in DATA_DIR,
  unless they were set. With DATABASE_URL they have no default.
`)
	if toFiles != "" {
		fmt.Fprintln(w, "- Set FILES to the new file store.")
	} else {
		fmt.Fprintln(w, "- Keep FILES, or files in DATA_DIR: no file was copied.")
	}
	_, err := fmt.Fprintln(w, "- Never start a service on the old database again: it would send its messages a second time.")
	return err
}

// printFiles prints how many files were copied, and which of them the store does not have.
func printFiles(w io.Writer, f dump.Files, done string) {
	fmt.Fprintf(w, "%d files with %d bytes were %s.\n", f.Count, f.Bytes, done)
	for _, key := range f.Missing {
		fmt.Fprintf(w, "The file %s is missing in the file store.\n", key)
	}
}
