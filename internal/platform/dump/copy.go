package dump

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/touchline/touchline/internal/platform/database"
)

// Copy says what Run copies where.
type Copy struct {
	// From and To are the URLs of the databases.
	From, To string
	// Migrations make the tables of the target.
	Migrations fs.FS
	// Chunk is how many rows are committed together; 0 is 20,000. An interrupted copy continues after its last chunk.
	Chunk int
	// Files copies the files, after the target was marked and before its rows; nil copies none.
	Files func(context.Context) (Files, error)
	// Progress is called after each commit, with the rows of a table that this run copied; nil does nothing.
	Progress func(table string, rows int64)
}

// Result says what a copy copied.
type Result struct {
	Tables []Total `json:"tables"`
	// Resumed says that an interrupted copy continued.
	Resumed bool  `json:"resumed"`
	Files   Files `json:"files"`
}

// Rows returns how many rows there are in all tables.
func (r Result) Rows() (n int64) {
	for _, t := range r.Tables {
		n += t.Rows
	}
	return n
}

// ErrRunning says that a service uses the database.
var ErrRunning = errors.New("a service runs on it: stop every replica first")

// lockTime is how long a process that has just been started by the holder of the lock may still hold it.
const lockTime = 200 * time.Millisecond

// lock keeps services from a database, and fails if one runs on it.
func lock(ctx context.Context, url string) (*database.ServerLock, error) {
	l, err := database.LockServer(ctx, url, lockTime, func() {})
	if errors.Is(err, database.ErrServed) {
		err = ErrRunning
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", database.Label(url), err)
	}
	return l, nil
}

// LockStopped fails if a service runs on a database. Until unlock no service starts on a SQLite file.
func LockStopped(ctx context.Context, url string) (unlock func(), err error) {
	locked, err := lock(ctx, url)
	if err != nil {
		return nil, err
	}
	if err := stopped(ctx, url); err != nil {
		return nil, errors.Join(err, locked.Close())
	}
	return func() { _ = locked.Close() }, nil
}

// stopped fails if there is no database, or if a service has connections to it.
func stopped(ctx context.Context, url string) error {
	b, err := database.OpenBulk(ctx, url)
	if err != nil {
		return err
	}
	return errors.Join(noService(ctx, b, url), b.Close())
}

// stopTime is how long a connection of a service that has stopped may still exist.
const stopTime = 2 * time.Second

// noService fails if a service has connections to a PostgreSQL database.
func noService(ctx context.Context, b *database.Bulk, url string) error {
	for end := time.Now().Add(stopTime); ; time.Sleep(stopTime / 20) {
		n, err := b.Services(ctx)
		if err == nil && n == 0 {
			return nil
		}
		if err == nil && time.Now().After(end) {
			err = ErrRunning
		}
		if err != nil {
			return fmt.Errorf("%s: %w", database.Label(url), err)
		}
	}
}

// Run copies all tables of a database into an empty one, and compares them. A copy that was interrupted continues. It fails
// if a service runs on one of the two.
func (c Copy) Run(ctx context.Context) (r Result, err error) {
	if database.SameDatabase(c.From, c.To) {
		return r, errors.New("the source and the target are the same database")
	}
	source, tables, unlock, err := c.openSource(ctx)
	if err != nil {
		return r, fmt.Errorf("source: %w", err)
	}
	defer unlock()
	locked, err := lock(ctx, c.To)
	if err != nil {
		return r, fmt.Errorf("target: %w", err)
	}
	defer locked.Close()
	target, state, resumed, err := openTarget(ctx, c.To, c.Migrations, tables, progress{Command: commandCopy, Source: database.Label(c.From)})
	if err != nil {
		return r, fmt.Errorf("target: %w", err)
	}
	defer target.Close()
	r.Resumed = resumed
	// Files before rows: a copy that failed at a file is continued by the same command.
	if c.Files != nil {
		r.Files, err = c.Files(ctx)
		if err != nil {
			return r, err
		}
	}
	for i := state.Tables; i < len(tables); i++ {
		if err := c.table(ctx, source, target, tables[i], &state); err != nil {
			return r, err
		}
	}
	r.Tables, err = compare(ctx, source, target, tables)
	if err != nil {
		return r, fmt.Errorf("the copy is not complete: %w; start again with an empty target", err)
	}
	err = target.Analyze(ctx)
	if err == nil {
		err = state.end(ctx, target)
	}
	return r, err
}

// openSource opens the source, of which all reads see one state.
func (c Copy) openSource(ctx context.Context) (b *database.Bulk, tables []database.Table, unlock func(), err error) {
	b, err = database.OpenBulk(ctx, c.From)
	if err != nil {
		return nil, nil, nil, err
	}
	locked, err := lock(ctx, c.From)
	unlock = func() {
		_ = b.Close()
		if locked != nil {
			_ = locked.Close()
		}
	}
	if err == nil {
		err = noService(ctx, b, c.From)
	}
	if err == nil {
		err = b.Snapshot(ctx)
	}
	if err == nil {
		tables, err = sourceTables(ctx, b, c.Migrations)
	}
	if err != nil {
		unlock()
		return nil, nil, nil, err
	}
	return b, tables, unlock, nil
}

// sourceTables returns the tables of a source, which must have exactly the migrations of this program.
func sourceTables(ctx context.Context, b *database.Bulk, migrations fs.FS) ([]database.Table, error) {
	newest, err := database.NewestMigration(migrations)
	if err != nil {
		return nil, err
	}
	version, err := b.Version(ctx)
	switch {
	case err != nil:
		return nil, err
	case version == 0:
		return nil, errNoTouchline
	}
	if err := checkFinished(ctx, b); err != nil {
		return nil, err
	}
	switch {
	case version < newest:
		return nil, errors.New("an older release made it: run \"touchline migrate\" on it first")
	case version > newest:
		return nil, errNewerDatabase
	}
	return b.Tables(ctx)
}

var (
	errNoTouchline   = errors.New("it is not a database of Touchline")
	errNewerDatabase = errors.New("a newer release made it: use that release")
)

// table copies the rest of a table in chunks. Each is one transaction with the new state.
func (c Copy) table(ctx context.Context, source, target *database.Bulk, t database.Table, state *progress) error {
	after, err := decodeKey(t, state.After)
	if err != nil {
		return err
	}
	rows := make(chan []any, 1000)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var read error
	go func() {
		defer close(rows)
		read = source.ReadAfter(ctx, t, after, func(row []any) error {
			select {
			case rows <- append([]any(nil), row...):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	var copied int64
	for more := true; more; {
		var last []any
		n := 0
		err := target.Write(ctx, func() error {
			_, err := target.Insert(ctx, t, func() ([]any, error) {
				if n == c.chunk() {
					return nil, nil
				}
				row, ok := <-rows
				if !ok {
					more = false
					return nil, read
				}
				n++
				last = row
				return row, nil
			})
			if err != nil {
				return err
			}
			if more {
				key, err := appendRow(nil, t.KeyOf(last))
				if err != nil {
					return err
				}
				state.After = key
			} else {
				state.Tables, state.After = state.Tables+1, nil
			}
			return state.save(ctx, target)
		})
		if err != nil {
			cancel()
			for range rows { // the source is for one goroutine: wait for the reader
			}
			return err
		}
		copied += int64(n)
		if c.Progress != nil {
			c.Progress(t.Name, copied)
		}
	}
	return nil
}

func (c Copy) chunk() int {
	if c.Chunk > 0 {
		return c.Chunk
	}
	return 20_000
}

func decodeKey(t database.Table, encoded []byte) ([]any, error) {
	if encoded == nil {
		return nil, nil
	}
	columns := t.KeyKinds()
	key := make([]any, len(columns))
	_, err := readRow(encoded, columns, key)
	return key, err
}

// compare returns what each table has, and an error unless the source and the target have the same.
func compare(ctx context.Context, source, target *database.Bulk, tables []database.Table) ([]Total, error) {
	var want []Total
	read := make(chan error, 1)
	go func() {
		var err error
		want, err = totals(ctx, source, tables)
		read <- err
	}()
	got, err := totals(ctx, target, tables)
	if err := errors.Join(<-read, err, target.CheckReferences(ctx)); err != nil {
		return nil, err
	}
	return want, differences(want, got)
}
