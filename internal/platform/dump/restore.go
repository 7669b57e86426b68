package dump

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/touchline/touchline/internal/platform/blob"
	"github.com/touchline/touchline/internal/platform/database"
)

// Restore says where a backup is restored.
type Restore struct {
	// To is the URL of an empty database, of either engine.
	To         string
	Migrations fs.FS
	Files      blob.Store
	// Erasures is called with the file ERASURES of the backup, if it has one.
	Erasures func(io.Reader) error
	// Progress is called with the rows of a table that were written; nil does nothing.
	Progress func(table string, rows int64)
}

// Check reads all of a backup and compares it with its own counts and checksums.
func (a *Archive) Check() (Contents, error) {
	return a.read(skipRows, func(string, []byte) error { return nil }, func(r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	})
}

func skipRows(_ database.Table, next func() ([]any, error)) error {
	for {
		if row, err := next(); row == nil {
			return err
		}
	}
}

// read reads all of a backup.
func (a *Archive) read(table func(database.Table, func() ([]any, error)) error, file func(string, []byte) error, erasures func(io.Reader) error) (c Contents, err error) {
	for _, t := range a.Manifest.Tables {
		var sum Sum
		if err := table(t, a.rows(t, &sum)); err != nil {
			return c, err
		}
		c.Tables = append(c.Tables, sum.total(t.Name))
	}
	c.Files, err = a.files(file)
	if err != nil {
		return c, err
	}
	c.Erasures, err = a.erasures(erasures)
	if err != nil {
		return c, err
	}
	return a.end(c)
}

// Restore writes a backup into an empty database. One transaction writes all rows: after an error or an interruption the database has none
// of them, and no service runs on it until a restore has ended. Then it applies the migrations that the backup does not have. The same
// restore continues one that was interrupted. It fails if a service runs on the database.
func (a *Archive) Restore(ctx context.Context, r Restore) (c Contents, err error) {
	locked, err := lock(ctx, r.To)
	if err != nil {
		return c, err
	}
	defer locked.Close()
	mark := progress{Command: commandRestore, Source: a.Manifest.String()}
	older := database.MigrationsUpTo(r.Migrations, a.Manifest.Migration)
	target, state, _, err := openTarget(ctx, r.To, older, a.Manifest.Tables, mark)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if state.hasRows() {
		c, err = a.again(ctx, r)
	} else {
		c, err = a.fill(ctx, target, r, mark)
	}
	if err != nil {
		return c, err
	}
	if err := migrateTarget(ctx, r.To, r.Migrations, mark); err != nil {
		return c, err
	}
	if err := target.Analyze(ctx); err != nil {
		return c, err
	}
	return c, mark.end(ctx, target)
}

// fill writes all rows, the files and the erasures of a backup, and keeps in the mark that they are complete.
func (a *Archive) fill(ctx context.Context, target *database.Bulk, r Restore, mark progress) (c Contents, err error) {
	err = target.Write(ctx, func() error {
		c, err = a.read(func(t database.Table, next func() ([]any, error)) error {
			n, err := target.Insert(ctx, t, next)
			if err == nil && r.Progress != nil {
				r.Progress(t.Name, n)
			}
			return err
		}, r.putFile(ctx), r.Erasures)
		if err != nil {
			return err
		}
		got, err := totals(ctx, target, a.Manifest.Tables)
		if err != nil {
			return err
		}
		if err := errors.Join(differences(c.Tables, got), target.CheckReferences(ctx)); err != nil {
			return err
		}
		mark.Tables = len(a.Manifest.Tables)
		return mark.save(ctx, target)
	})
	return c, err
}

// again writes the files and the erasures of a backup whose rows a run before has committed.
func (a *Archive) again(ctx context.Context, r Restore) (Contents, error) {
	return a.read(skipRows, r.putFile(ctx), r.Erasures)
}

func (r Restore) putFile(ctx context.Context) func(key string, content []byte) error {
	return func(key string, content []byte) error { return putFile(ctx, r.Files, key, content) }
}

// putFile writes a file of a backup, also if the store has it: it may be damaged there.
func putFile(ctx context.Context, to blob.Store, key string, content []byte) error {
	if key == storeID {
		r, _, err := to.Open(ctx, key)
		if err == nil {
			return errors.Join(sameContent(r, bytes.NewReader(content)), r.Close())
		}
		if !errors.Is(err, blob.ErrNotFound) {
			return err
		}
	}
	if err := to.Put(ctx, key, bytes.NewReader(content), int64(len(content)), mediaType); err != nil {
		return fmt.Errorf("restore the file %s: %w", key, err)
	}
	return nil
}
