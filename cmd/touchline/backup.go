package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/server"
)

// backupCommand returns the commands that make and verify backups.
func backupCommand(environ []string) *cobra.Command {
	var to, recipientsFile string
	var recipients []string
	c := withJSON(&cobra.Command{
		Use: "backup --to <file> --recipient <age1…>", Short: "write an encrypted backup of the service, which may be running", Args: cobra.NoArgs,
		Long: `Write all tables as they are at one moment, the files of documents and the file ERASURES into one file, which
is encrypted with age (https://age-encryption.org) for the recipients. The service may be running, on either engine.

The backup does not have the master key: keep it elsewhere. "touchline backup keygen" makes a key pair for backups.
--to is a file, a folder in which the backup gets a name with its time, or - for the standard output. The file gets its
name when it is complete.

The command takes the settings of "touchline serve", as variables or flags: database, files and ERASURES.`,
	})
	load := withSettings(c, environ)
	c.RunE = func(c *cobra.Command, _ []string) error {
		keys, err := readRecipients(recipients, recipientsFile)
		if err != nil {
			return failed(err)
		}
		if to == "" {
			return failed(errUsage("--to is required"))
		}
		cfg, err := load()
		if err != nil {
			return err
		}
		return failed(backup(c, cfg, to, keys))
	}
	c.Flags().StringVar(&to, "to", "", "file or folder of the backup; - is the standard output")
	c.Flags().StringSliceVar(&recipients, "recipient", nil, "public key whose owner can read the backup; can be repeated")
	c.Flags().StringVar(&recipientsFile, "recipients-file", "", "file with public keys, one on each line")
	c.AddCommand(verifyBackupCommand(load), keygenCommand())
	return c
}

// readRecipients returns the keys of both flags.
func readRecipients(keys []string, file string) ([]age.Recipient, error) {
	text := strings.Join(keys, "\n")
	if file != "" {
		more, err := readFile(nil, file)
		if err != nil {
			return nil, err
		}
		text += "\n" + string(more)
	}
	var all []age.Recipient
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parsed, err := age.ParseRecipients(strings.NewReader(line))
		if err != nil {
			return nil, errUsage("a recipient is not a public key of age, which begins with age1")
		}
		all = append(all, parsed...)
	}
	if len(all) == 0 {
		return nil, errUsage("--recipient or --recipients-file is required: who can read the backup")
	}
	return all, nil
}

func backup(c *cobra.Command, cfg *config.Config, to string, keys []age.Recipient) error {
	var contents dump.Contents
	write := func(w io.Writer) (err error) {
		contents, err = server.Backup(c.Context(), cfg, server.Options{}, w, progress(c.ErrOrStderr(), "read"), keys...)
		return err
	}
	if to == "-" {
		if err := write(c.OutOrStdout()); err != nil {
			return err
		}
		return printContents(c.ErrOrStderr(), "The backup", contents)
	}
	path := to
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		path = filepath.Join(to, "touchline-"+time.Now().UTC().Format("20060102T150405Z")+".age")
	}
	size, err := createFile(path, write)
	if err != nil {
		return err
	}
	result := map[string]any{"file": path, "bytes": size, "rows": contents.Rows(), "files": contents.Files, "tables": contents.Tables, "erasures": contents.Erasures}
	return printResult(c, result, func(w io.Writer) error {
		return printContents(w, fmt.Sprintf("%s (%d bytes)", path, size), contents)
	})
}

// createFile creates the file at path, which must not exist, with what write writes. The file has its name only when it is complete
// and on the disk.
func createFile(path string, write func(io.Writer) error) (size int64, err error) {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return 0, fmt.Errorf("%s exists already", path)
	case !errors.Is(err, fs.ErrNotExist):
		return 0, err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	err = write(temp)
	if err == nil {
		err = temp.Sync()
	}
	if info, statErr := temp.Stat(); statErr == nil {
		size = info.Size()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return 0, err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return 0, err
	}
	return size, config.SyncFolder(filepath.Dir(path))
}

func printContents(w io.Writer, name string, c dump.Contents) error {
	fmt.Fprintf(w, "%s has %d tables with %d rows, and %d files with %d bytes.\n", name, len(c.Tables), c.Rows(), c.Files.Count, c.Files.Bytes)
	for _, key := range c.Files.Missing {
		fmt.Fprintf(w, "The file %s is missing in the file store.\n", key)
	}
	if c.Files.Deleted > 0 {
		fmt.Fprintf(w, "%d files were deleted after the tables were read, and are not in it.\n", c.Files.Deleted)
	}
	_, err := fmt.Fprintln(w, "It does not have the master key.")
	return err
}

// keygenCommand returns the command that makes a key pair for backups, in the format of age-keygen.
func keygenCommand() *cobra.Command {
	return &cobra.Command{
		Use: "keygen", Short: "make a key pair for backups, as age-keygen does", Args: cobra.NoArgs,
		Long: `Print a new private key of age with its public key. Keep the private key away from the service, for example:

  (umask 077; touchline backup keygen > touchline-backup.key)

The public key, age1…, is the --recipient of backups. With the private key and the master key everything can be read.`,
		RunE: func(c *cobra.Command, _ []string) error {
			id, err := age.GenerateX25519Identity()
			if err != nil {
				return failed(err)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "# created: %s\n# public key: %s\n%s\n", time.Now().UTC().Format(time.RFC3339), id.Recipient(), id)
			return failed(err)
		},
	}
}

// openBackup opens the backup in a file with the identities in another one. Call close afterwards.
func openBackup(c *cobra.Command, name, identityFile string) (a *dump.Archive, closeAll func(), err error) {
	if identityFile == "" {
		return nil, nil, errUsage("--identity is required: the file with the private key of the backup")
	}
	key, err := os.Open(identityFile)
	if err != nil {
		return nil, nil, err
	}
	identities, err := age.ParseIdentities(key)
	if err := errors.Join(err, key.Close()); err != nil {
		return nil, nil, errUsage("%s has no private key of age: %v", identityFile, err)
	}
	in, closeFile := c.InOrStdin(), func() {}
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, err
		}
		in, closeFile = f, func() { _ = f.Close() }
	}
	a, err = server.OpenBackup(in, identities...)
	if err != nil {
		closeFile()
		return nil, nil, err
	}
	return a, func() { a.Close(); closeFile() }, nil
}

// identityHelp is the help of the flag --identity.
const identityHelp = "file with the private key of the backup, of age"

func verifyBackupCommand(load func() (*config.Config, error)) *cobra.Command {
	var identity string
	c := withJSON(&cobra.Command{
		Use: "verify <file>", Short: "restore a backup into a temporary copy, and start the service on it", Args: cobra.ExactArgs(1),
		Long: `Restore a backup of either engine into a temporary SQLite database, start the service on it, and audit the log of
consents. The copy sends nothing: no SMS, no mail, no push message, no webhook. Exit status 3 means that something is
wrong; the output says what. The folder for temporary files (TMPDIR) needs space for all data, which are deleted at the end.

The command needs the master key that the service had, MASTER_KEY or its file; it reads and changes nothing else of the service.`,
	})
	c.Flags().StringVar(&identity, "identity", "", identityHelp)
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		return failed(verifyBackup(c.Context(), c, cfg, args[0], identity))
	}
	return c
}

var errBackupFindings = checkError{errors.New("the backup is not good")}

func verifyBackup(ctx context.Context, c *cobra.Command, cfg *config.Config, name, identity string) error {
	a, closeAll, err := openBackup(c, name, identity)
	if errors.Is(err, dump.ErrDamaged) {
		return checkError{err}
	}
	if err != nil {
		return err
	}
	defer closeAll()
	v, err := server.VerifyBackup(ctx, cfg, server.Options{}, a)
	if errors.Is(err, dump.ErrDamaged) {
		return checkError{err}
	}
	if err != nil {
		return err
	}
	result := map[string]any{
		"created_at": a.Manifest.CreatedAt, "release": a.Manifest.Release, "engine": a.Manifest.Engine, "rows": v.Contents.Rows(), "files": v.Contents.Files,
		"records": v.Audit.Records, "players": v.Audit.Players, "findings": append([]string{}, v.Findings...),
	}
	err = printResult(c, result, func(w io.Writer) error {
		if err := printContents(w, describeBackup(a.Manifest), v.Contents); err != nil {
			return err
		}
		if len(v.Findings) == 0 {
			fmt.Fprintf(w, "The service started on a restored copy and was ready. It sent nothing.\n%d records and %d players were checked. Nothing contradicts the log of consents.\n", v.Audit.Records, v.Audit.Players)
		}
		for _, finding := range v.Findings {
			fmt.Fprintln(w, "- "+finding)
		}
		return nil
	})
	if err == nil && len(v.Findings) > 0 {
		err = errBackupFindings
	}
	return err
}

func describeBackup(m dump.Manifest) string {
	return fmt.Sprintf("The backup of %s, by release %s on %s,", formatTime(m.CreatedAt), m.Release, m.Engine)
}
