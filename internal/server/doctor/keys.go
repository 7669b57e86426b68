package doctor

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/touchline/touchline/internal/auth"
)

// masterKey checks that the master key decrypts the keys of the database.
func (c *checkup) masterKey(ctx context.Context) []Result {
	if c.db == nil {
		return needsDatabase()
	}
	masters, err := c.cfg.MasterKeys()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return one(failed("The master key cannot be read: %v.", err))
	}
	keys, listErr := auth.NewInstallation(c.db).ListKeys(ctx, masters)
	switch {
	case listErr != nil:
		return one(failed("The keys cannot be read: %v.", listErr))
	case len(keys) == 0 && len(masters) == 0:
		return one(ok("The database has no keys yet: the first start makes them, and the master key in %s.", c.cfg.MasterKeyPath()))
	case len(keys) == 0:
		return one(ok("The database has no keys yet: the first start makes them."))
	case len(masters) == 0:
		return one(failed("There is no master key, but the database has keys that one encrypts: restore it, or set MASTER_KEY_FILE."))
	case slices.ContainsFunc(keys, func(k auth.KeyInfo) bool { return k.MasterKey == "" }):
		return one(failed("The master key does not decrypt the keys of this database: set MASTER_KEY_FILE to that of this installation."))
	case !c.cfg.Development() && c.cfg.MasterKeyInDataDir():
		return one(warning("The master key is only known to be in %s: keep a copy away from this machine, because a backup of the database is useless without it, or set MASTER_KEY_FILE.",
			filepath.Base(c.cfg.MasterKeyPath())))
	}
	return one(ok("The master key decrypts the %d keys of this database.", len(keys)))
}
