package server

import (
	"context"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"

	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/buildinfo"
	"github.com/touchline/touchline/internal/platform/config"
	"github.com/touchline/touchline/internal/platform/database"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/privacy"
	"github.com/touchline/touchline/internal/store"
)

// Backup writes a backup of the service of cfg to w, which only the recipients can read. The service may be running. progress is called with
// the rows of a table that were read.
func Backup(ctx context.Context, cfg *config.Config, o Options, w io.Writer, progress func(table string, rows int64), recipients ...age.Recipient) (c dump.Contents, err error) {
	o = o.withDefaults()
	source, err := database.OpenBulk(ctx, cfg.DatabaseURL.Reveal())
	if err != nil {
		return c, err
	}
	if err := source.Close(); err != nil {
		return c, err
	}
	files, err := blob.Open(ctx, cfg.Files.Reveal(), blob.Options{}) // creates a missing folder
	if err != nil {
		return c, fmt.Errorf("open the file store: %w", err)
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	return dump.Backup{
		From: cfg.DatabaseURL.Reveal(), Migrations: store.Migrations(), Files: files, Erasures: cfg.ErasuresFile(),
		Release: buildinfo.Release, Now: o.Now(), Progress: progress,
	}.Write(ctx, w, recipients...)
}

// OpenBackup decrypts a backup and reads what it is. Call Close afterwards.
func OpenBackup(r io.Reader, identities ...age.Identity) (*dump.Archive, error) {
	newest, err := database.NewestMigration(store.Migrations())
	if err != nil {
		return nil, err
	}
	return dump.OpenArchive(r, newest, identities...)
}

var errNoLedger = errors.New("the backup has a file ERASURES: set ERASURES to the file that the service uses, or will use")

// Restore writes a backup into the empty database of cfg and into its file store. It adds to the file ERASURES what that does not have.
func Restore(ctx context.Context, cfg *config.Config, a *dump.Archive, progress func(table string, rows int64)) (c dump.Contents, err error) {
	if err := cfg.CreateDataDir(); err != nil {
		return c, err
	}
	files, err := blob.Open(ctx, cfg.Files.Reveal(), blob.Options{})
	if err != nil {
		return c, fmt.Errorf("open the file store: %w", err)
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	return a.Restore(ctx, dump.Restore{
		To: cfg.DatabaseURL.Reveal(), Migrations: store.Migrations(), Files: files, Progress: progress,
		Erasures: func(r io.Reader) error {
			if cfg.ErasuresFile() == "" {
				return errNoLedger
			}
			_, err := privacy.MergeLedger(cfg.ErasuresFile(), r)
			return err
		},
	})
}
