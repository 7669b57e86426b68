package dump

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"filippo.io/age"

	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/database"
)

// Backup says what Write writes. The service may be running.
type Backup struct {
	// From is the URL of the database.
	From       string
	Migrations fs.FS
	// Files is the file store; nil to leave out the files.
	Files blob.Store
	// Erasures is the path of the file ERASURES; empty without one.
	Erasures string
	Release  string
	Now      time.Time
	// Progress is called with the rows of a table that were read; nil does nothing.
	Progress func(table string, rows int64)
}

// Write writes a backup to w: all tables as they were at one moment, then the files that they name.
func (b Backup) Write(ctx context.Context, w io.Writer, recipients ...age.Recipient) (c Contents, err error) {
	source, err := database.OpenBulk(ctx, b.From)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := source.Snapshot(ctx); err != nil {
		return c, err
	}
	m := Manifest{Format: format, Release: b.Release, Engine: source.Engine(), CreatedAt: b.Now.UTC()}
	m.Migration, m.Tables, err = backupTables(ctx, source, b.Migrations)
	if err != nil {
		return c, err
	}
	if err := b.checkStore(ctx, source); err != nil {
		return c, err
	}
	out, err := newArchiveWriter(w, m.CreatedAt, recipients)
	if err != nil {
		return c, err
	}
	if err := out.addJSON(manifestName, m); err != nil {
		return c, err
	}
	for _, t := range m.Tables {
		total, err := b.table(ctx, source, t, out)
		if err != nil {
			return c, err
		}
		c.Tables = append(c.Tables, total)
	}
	c.Files, err = b.files(ctx, source, m.Tables, out)
	if err != nil {
		return c, err
	}
	c.Erasures, err = b.erasures(out)
	if err != nil {
		return c, err
	}
	if err := out.addJSON(endName, c); err != nil {
		return c, err
	}
	return c, out.Close()
}

// backupTables returns the newest migration and the tables of a database, which must not be newer than this program.
func backupTables(ctx context.Context, b *database.Bulk, migrations fs.FS) (int64, []database.Table, error) {
	newest, err := database.NewestMigration(migrations)
	if err != nil {
		return 0, nil, err
	}
	version, err := b.Version(ctx)
	switch {
	case err != nil:
		return 0, nil, err
	case version == 0:
		return 0, nil, errNoTouchline
	case version > newest:
		return 0, nil, errNewerDatabase
	}
	if err := checkFinished(ctx, b); err != nil {
		return 0, nil, err
	}
	tables, err := b.Tables(ctx)
	return version, tables, err
}

// checkStore returns an error if the file store is not that of the database, for example because a disk is not mounted.
func (b Backup) checkStore(ctx context.Context, source *database.Bulk) error {
	if b.Files == nil {
		return nil
	}
	var known string
	err := source.Scan(ctx, `SELECT value FROM installation WHERE name = $1`, []any{FileStoreID}, &known)
	if database.IsNoRows(err) {
		return nil // no file was stored yet
	}
	if err == nil {
		_, err = blob.Identify(ctx, b.Files, known, nil)
	}
	return err
}

// table writes the rows of a table in chunks.
func (b Backup) table(ctx context.Context, source *database.Bulk, t database.Table, out *archiveWriter) (Total, error) {
	var sum Sum
	var chunk []byte
	chunks := 0
	flush := func() error {
		if len(chunk) == 0 {
			return nil
		}
		chunks++
		err := out.add(fmt.Sprintf("%s%s/%06d", tablesFolder, t.Name, chunks), chunk)
		chunk = chunk[:0]
		if b.Progress != nil {
			b.Progress(t.Name, sum.Rows)
		}
		return err
	}
	err := source.Read(ctx, t, func(row []any) (err error) {
		before := len(chunk)
		chunk, err = appendRow(chunk, row)
		if err != nil {
			return err
		}
		sum.add(chunk[before:])
		if len(chunk) >= chunkSize {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return sum.total(t.Name), err
}

// files writes the files that the rows of the snapshot name. It ends the snapshot, because files take longer than tables.
func (b Backup) files(ctx context.Context, source *database.Bulk, tables []database.Table, out *archiveWriter) (files Files, err error) {
	if b.Files == nil {
		return files, nil
	}
	keys, named, err := fileKeys(ctx, source, tables)
	if err == nil {
		err = source.Exec(ctx, `ROLLBACK`)
	}
	if err != nil {
		return files, err
	}
	for _, key := range keys {
		n, err := b.file(ctx, key, out)
		switch {
		case errors.Is(err, blob.ErrNotFound):
			if !named[key] {
				continue
			}
			deleted, err := isDeleted(ctx, source, key)
			if err != nil {
				return files, err
			}
			if deleted {
				files.Deleted++
			} else {
				files.Missing = append(files.Missing, key)
			}
		case err != nil:
			return files, fmt.Errorf("back up the file %s: %w", key, err)
		default:
			files.Count, files.Bytes = files.Count+1, files.Bytes+n
		}
	}
	return files, nil
}

func (b Backup) file(ctx context.Context, key string, out *archiveWriter) (int64, error) {
	r, size, err := b.Files.Open(ctx, key)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if err := out.begin(filesFolder+key, size); err != nil {
		return 0, err
	}
	_, err = io.CopyN(out, r, size)
	return size, err
}

// isDeleted reports whether the database does not name a file any more: it was deleted after the snapshot.
func isDeleted(ctx context.Context, now *database.Bulk, key string) (bool, error) {
	var named bool
	err := now.Scan(ctx, `SELECT EXISTS (SELECT 1 FROM blobs WHERE key = $1 AND ends_at IS NULL)`, []any{key}, &named)
	return !named, err
}

// erasures writes the file ERASURES.
func (b Backup) erasures(out *archiveWriter) (bool, error) {
	if b.Erasures == "" {
		return false, nil
	}
	text, err := os.ReadFile(b.Erasures)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read ERASURES: %w", err)
	}
	// The service appends whole lines. One that it is writing now is for the next backup.
	return true, out.add(ledgerName, text[:bytes.LastIndexByte(text, '\n')+1])
}
