package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/config"
)

// openKeys decrypts the keys of the installation with the master key of cfg. It creates the master
// key only for a new database: a new key cannot decrypt existing keys, and its file
// would be where the operator must restore the right one.
func openKeys(ctx context.Context, cfg *config.Config, o Options, in *auth.Installation) (*auth.Keys, error) {
	_, err := cfg.MasterKeys()
	if errors.Is(err, fs.ErrNotExist) {
		_, err = createMasterKey(ctx, cfg, o, in)
	}
	if err != nil {
		return nil, err
	}
	return auth.OpenKeys(ctx, in, cfg.MasterKeys, o.Now)
}

// createMasterKey creates the master key if the database holds no keys.
func createMasterKey(ctx context.Context, cfg *config.Config, o Options, in *auth.Installation) ([]byte, error) {
	secrets, err := in.Secrets(ctx)
	if err != nil {
		return nil, err
	}
	if len(secrets) == 0 {
		master, err := cfg.CreateMasterKey()
		if err == nil {
			o.Log.Info("the database is new, and so is its master key: keep a copy of the file, because backups are useless without it", "file", cfg.MasterKeyPath())
		}
		return master, err
	}
	// A replica that starts at the same time writes its master key before its secrets.
	master, err := cfg.ReadMasterKey()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the master key is missing: %s does not exist, but the keys in this database are encrypted; restore the file, or set MASTER_KEY", cfg.MasterKeyPath())
	}
	return master, err
}
