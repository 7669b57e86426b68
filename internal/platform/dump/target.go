package dump

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/touchline/touchline/internal/platform/database"
)

// Unfinished is the name of the value in the table installation of a database into which a copy or a restore is not complete. No
// service may run on it. The value is written in the transaction of the first migration: from the first table on a database that
// will get the data of another one is marked.
const Unfinished = "copy"

// The commands that fill a database.
const (
	commandCopy    = "copy"
	commandRestore = "restore"
)

// progress is the value Unfinished.
type progress struct {
	Command string `json:"command"`
	// Source is the place of the source of a copy, or says which backup is restored.
	Source string `json:"source"`
	// Tables is how many tables are complete; After is the key of the last row of the next one, encoded. A restore writes all
	// tables in one transaction.
	Tables int    `json:"tables"`
	After  []byte `json:"after,omitempty"`
}

// hasRows reports whether rows of the source were committed.
func (p progress) hasRows() bool { return p.Tables > 0 || p.After != nil }

// sameAs reports whether both are the same command with the same source.
func (p progress) sameAs(other progress) bool {
	return p.Command == other.Command && p.Source == other.Source
}

// String returns a sentence for the operator: the command that is not complete, and the command to run.
func (p progress) String() string {
	if p.Command == commandRestore {
		return fmt.Sprintf("the restore of the %s into this database is not complete: run \"touchline restore\" again with the same arguments, or use an empty database", p.Source)
	}
	return fmt.Sprintf("the copy of %s into this database is not complete: run \"touchline copy\" again with the same arguments, or use an empty database", p.Source)
}

func (p progress) text() (string, error) {
	text, err := json.Marshal(p)
	return string(text), err
}

const saveProgress = `INSERT INTO installation (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`

func (p progress) save(ctx context.Context, target *database.Bulk) error {
	text, err := p.text()
	if err != nil {
		return err
	}
	return target.Exec(ctx, saveProgress, Unfinished, text)
}

// end removes the mark: services may run on the database.
func (p progress) end(ctx context.Context, target *database.Bulk) error {
	return target.Exec(ctx, `DELETE FROM installation WHERE name = $1`, Unfinished)
}

const readProgress = `SELECT value FROM installation WHERE name = $1`

// readMark returns the mark of a database, or nil without one. scan runs a query with one row.
func readMark(scan func(query, name string, text *string) error) (*progress, error) {
	var text string
	err := scan(readProgress, Unfinished, &text)
	if database.IsNoRows(err) || database.IsNoSuchTable(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read whether the database is complete: %w", err)
	}
	p := new(progress)
	if err := json.Unmarshal([]byte(text), p); err != nil {
		return nil, fmt.Errorf("read whether the database is complete: %w", err)
	}
	return p, nil
}

func markOf(ctx context.Context, b *database.Bulk) (*progress, error) {
	return readMark(func(query, name string, text *string) error { return b.Scan(ctx, query, []any{name}, text) })
}

// CheckComplete returns an error that says what to do if a copy or a restore into a database is not complete. The database may have no tables.
func CheckComplete(ctx context.Context, db database.Querier) error {
	p, err := readMark(func(query, name string, text *string) error { return db.QueryRow(ctx, query, name).Scan(text) })
	if err == nil && p != nil {
		err = errors.New(p.String())
	}
	return err
}

// checkFinished is CheckComplete for a source.
func checkFinished(ctx context.Context, b *database.Bulk) error {
	p, err := markOf(ctx, b)
	if err == nil && p != nil {
		err = errors.New(p.String())
	}
	return err
}

// openTarget marks an empty target, migrates it and opens it. It must have the tables of the source. resumed says that the mark of an
// earlier run was there. state is what that run has committed.
func openTarget(ctx context.Context, url string, migrations fs.FS, tables []database.Table, want progress) (b *database.Bulk, state progress, resumed bool, err error) {
	if err := stopped(ctx, url); err != nil && !errors.Is(err, database.ErrNoDatabase) {
		return nil, state, false, err
	}
	earlier, err := markTarget(ctx, url, migrations, want)
	if err != nil {
		return nil, state, false, err
	}
	if err := migrateTarget(ctx, url, migrations, want); err != nil {
		return nil, state, false, err
	}
	// Another process can have applied the first migration, without a mark.
	if _, err := markTarget(ctx, url, migrations, want); err != nil {
		return nil, state, false, err
	}
	b, err = database.OpenBulkWriter(ctx, url)
	if err != nil {
		return nil, state, false, err
	}
	state, err = begin(ctx, b, tables, want)
	if err != nil {
		return nil, state, false, errors.Join(err, b.Close())
	}
	return b, state, earlier != nil && earlier.sameAs(want), nil
}

// markTarget marks a target that has tables and no data. It returns the mark that it had. The first migration marks one without tables.
func markTarget(ctx context.Context, url string, migrations fs.FS, want progress) (earlier *progress, err error) {
	b, err := database.OpenBulkWriter(ctx, url)
	if errors.Is(err, database.ErrNoDatabase) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	version, err := b.Version(ctx)
	if err != nil || version == 0 {
		return nil, err
	}
	earlier, err = markOf(ctx, b)
	if err != nil || earlier != nil {
		return earlier, err
	}
	newest, err := database.NewestMigration(migrations)
	if err == nil && version > newest {
		err = errors.New("its tables are newer than those of the source: use a database without tables as the target")
	}
	if err != nil {
		return nil, err
	}
	err = b.Write(ctx, func() error {
		tables, err := b.Tables(ctx)
		if err == nil {
			err = checkEmpty(ctx, b, tables)
		}
		if err != nil {
			return err
		}
		return want.save(ctx, b)
	})
	if err != nil {
		return nil, err
	}
	// A service that starts from now on reads the mark. One that has started meanwhile keeps its database.
	if err := noService(ctx, b, url); err != nil {
		return nil, errors.Join(err, want.end(context.WithoutCancel(ctx), b))
	}
	return nil, nil
}

// migrateTarget applies the missing migrations, the first one with the mark.
func migrateTarget(ctx context.Context, url string, migrations fs.FS, mark progress) error {
	text, err := mark.text()
	if err != nil {
		return err
	}
	db, err := database.Open(ctx, url, database.Options{
		Migrations: migrations, ApplicationName: "touchline copy", FirstMigration: saveProgress, FirstArguments: []any{Unfinished, text},
	})
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(ctx), db.Close())
}

// begin returns the state of an interrupted run, or begins one in a target without data.
func begin(ctx context.Context, target *database.Bulk, tables []database.Table, want progress) (progress, error) {
	mark, err := markOf(ctx, target)
	if err != nil {
		return want, err
	}
	if mark != nil && mark.hasRows() {
		if !mark.sameAs(want) {
			return want, fmt.Errorf("it has a part of a %s of %s; start with an empty database", mark.Command, mark.Source)
		}
		if want.Command == commandRestore {
			return *mark, nil // it may have later migrations than the backup
		}
	}
	own, err := target.Tables(ctx)
	if err == nil {
		err = sameTables(tables, own)
	}
	if err != nil {
		return want, err
	}
	if mark != nil && mark.hasRows() {
		return *mark, nil
	}
	return want, target.Write(ctx, func() error {
		if err := checkEmpty(ctx, target, own); err != nil {
			return err
		}
		if err := clearSeeds(ctx, target, own); err != nil {
			return err
		}
		return want.save(ctx, target)
	})
}
