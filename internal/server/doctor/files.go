package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
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
