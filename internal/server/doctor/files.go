package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/touchline/touchline/internal/auth"
	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/dump"
	"github.com/touchline/touchline/internal/platform/fault"
)

// files checks that the file store is that of the database. It creates none.
func (c *checkup) files(ctx context.Context) []Result {
	if c.db == nil {
		return needsDatabase()
	}
	known, err := auth.NewInstallation(c.db).Value(ctx, dump.FileStoreID)
	switch {
	case err != nil:
		return one(failed("The id of the file store cannot be read: %v.", err))
	case known == "":
		return one(ok("No file was stored yet: the first document marks the file store."))
	}
	if folder, isFolder := strings.CutPrefix(c.cfg.Files.Reveal(), "file:"); isFolder {
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			return one(failed("The folder of FILES does not exist: mount its disk, or correct FILES."))
		}
	}
	store, err := blob.Open(ctx, c.cfg.Files.Reveal(), blob.Options{})
	if err != nil {
		return one(failed("The file store cannot be opened: %v.", err))
	}
	defer store.Close()
	_, err = blob.Identify(ctx, store, known, nil)
	switch {
	case fault.KindOf(err) == fault.Unavailable:
		return one(failed("The file store does not respond (%v): documents answer 503 until it does.", err))
	case err != nil:
		return one(failed("The file store is not that of this database: %v.", err))
	}
	return one(ok("The file store responds and is that of this database."))
}

// erasures checks that the file that names the erased people is there. The first erasure creates it.
func (c *checkup) erasures(context.Context) []Result {
	path := c.cfg.ErasuresFile()
	if path == "" {
		return one(warning("ERASURES is not set: after a restore of an older copy the erased people would be back. Name a file that is copied away more often than backups."))
	}
	switch _, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return one(warning("There is no file %s yet: the first erasure creates it. After a restore copy the newest one there before the start, or erased people are back.", path))
	case err != nil:
		return one(failed("The file of ERASURES cannot be read: %v.", err))
	}
	return one(ok("The file of ERASURES is there."))
}

// checkpoint checks the file to which the log of consents writes its newest checkpoint.
func (c *checkup) checkpoint(context.Context) []Result {
	path := c.cfg.CheckpointFile()
	if path == "" && len(c.cfg.LogWitnesses) == 0 {
		return one(warning("Neither LOG_CHECKPOINT nor LOG_WITNESSES is set: after a restore the log of consents does not notice that the copy is older. Name a file outside of the database."))
	}
	if path == "" {
		return one(ok("The witnesses of LOG_WITNESSES keep the newest checkpoint."))
	}
	switch _, err := os.ReadFile(path); {
	case err == nil:
		return one(ok("The file of LOG_CHECKPOINT is there."))
	case !errors.Is(err, fs.ErrNotExist):
		return one(failed("The file of LOG_CHECKPOINT cannot be read, and the service does not start without it: %v.", err))
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil && filepath.Dir(path) != c.cfg.DataDir { // the service creates DATA_DIR
		return one(failed("The folder of LOG_CHECKPOINT cannot be read, and the service does not start without it: %v. Create it, or correct LOG_CHECKPOINT.", err))
	}
	return one(ok("There is no file %s yet: the first record of the log of consents creates it.", path))
}
