package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/touchline/touchline/internal/blob"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/store"
)

// filesID is the fact of the installation that tells which file store is its own.
const filesID = "files"

// openFiles opens the file store of cfg and holds it to be the one that the
// database knows; the first replica of an installation decides which that is.
func openFiles(ctx context.Context, cfg *config.Config, db *store.DB, newID func() string) (blob.Store, error) {
	files, err := blob.Open(ctx, cfg.Files.Reveal(), blob.Options{})
	if err != nil {
		return nil, fmt.Errorf("open the file store: %w", err)
	}
	if err := identify(ctx, files, db, newID); err != nil {
		return nil, errors.Join(fmt.Errorf("FILES is %s: %w", cfg.Files, err), files.Close())
	}
	return files, nil
}

func identify(ctx context.Context, files blob.Store, db *store.DB, newID func() string) error {
	known, err := db.Installation(ctx, filesID)
	if err != nil {
		return err
	}
	id, err := blob.Identify(ctx, files, known, newID)
	if err != nil || known != "" {
		return err
	}
	if known, err = db.SetInstallation(ctx, filesID, id); err != nil {
		return err
	}
	_, err = blob.Identify(ctx, files, known, newID) // another replica may have been first
	return err
}
