package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/config"
	"github.com/touchline/touchline/internal/store"
)

// openKeys opens the keys of db with the master key of cfg. That is made where
// there is none yet, but never for a database that has keys: a new one could open
// none of them, and would lie where the right one must be put back.
func openKeys(ctx context.Context, cfg *config.Config, db *store.DB, now func() time.Time) (*auth.Keys, error) {
	master, err := cfg.ReadMasterKey()
	if errors.Is(err, fs.ErrNotExist) {
		master, err = firstKey(ctx, cfg, db)
	}
	if err != nil {
		return nil, err
	}
	return auth.OpenKeys(ctx, db, master, now)
}

// firstKey makes the master key of a database that is new.
func firstKey(ctx context.Context, cfg *config.Config, db *store.DB) ([]byte, error) {
	secrets, err := db.Secrets(ctx)
	if err != nil {
		return nil, err
	}
	if len(secrets) == 0 {
		return cfg.CreateMasterKey()
	}
	// A replica that started beside this one has its key before the database has keys.
	master, err := cfg.ReadMasterKey()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the master key is missing: there is no %s, and this database was first started with a master key; put it back, or name it", cfg.MasterKeyPath())
	}
	return master, err
}
