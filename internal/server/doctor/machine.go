package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// Free disk space below which a check warns and fails. 128 uploads take 1.3 GiB.
const (
	littleSpace = 2 << 30
	noSpace     = 256 << 20
)

// disk checks the free space of the folders of the service.
func (c *checkup) disk(context.Context) []Result {
	folders := []string{c.cfg.DataDir, c.cfg.UploadDir()}
	if path, isSQLite := strings.CutPrefix(c.cfg.DatabaseURL.Reveal(), "sqlite:"); isSQLite {
		folders = append(folders, filepath.Dir(path))
	}
	if path, isFolder := strings.CutPrefix(c.cfg.Files.Reveal(), "file:"); isFolder {
		folders = append(folders, path)
	}
	var least uint64
	var where string
	for _, folder := range folders {
		free, err := freeSpace(existing(folder))
		if err != nil {
			return one(warning("The free space of %s cannot be read: %v.", folder, err))
		}
		if where == "" || free < least {
			least, where = free, folder
		}
	}
	switch mebibytes := least >> 20; {
	case least < noSpace:
		return one(failed("The disk of %s has %d MiB left: free some now, because writes fail on a full disk.", where, mebibytes))
	case least < littleSpace:
		return one(warning("The disk of %s has %d MiB left: free some before uploads fill it.", where, mebibytes))
	default:
		return one(ok("The disk of %s has %d MiB left; no other folder of the service has less.", where, mebibytes))
	}
}

// existing returns a folder, or the first one above it that exists.
func existing(folder string) string {
	folder, err := filepath.Abs(folder)
	for err == nil {
		if _, err := os.Stat(folder); err == nil || filepath.Dir(folder) == folder {
			break
		}
		folder = filepath.Dir(folder)
	}
	return folder
}

// spareFiles is how many more files than connections a process needs.
const spareFiles = 1000

// limits compares the limit of open files with MAX_CONNECTIONS.
func (c *checkup) limits(context.Context) []Result {
	files, err := maxOpenFiles()
	need := uint64(c.cfg.MaxConnections + spareFiles)
	switch {
	case err != nil:
		return one(warning("The limit of open files cannot be read: %v.", err))
	case files < need:
		return one(warning("A process of this user may open %d files, and MAX_CONNECTIONS needs %d: raise the limit (ulimit -n, LimitNOFILE), or lower MAX_CONNECTIONS.", files, need))
	}
	return one(ok("A process of this user may open at least %d files, as MAX_CONNECTIONS needs.", need))
}
