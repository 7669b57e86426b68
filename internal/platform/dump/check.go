package dump

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/platform/database"
)

// installation is the table with named values, one of which is Unfinished.
const installation = "installation"

// seeded are the tables in which migrations put rows.
var seeded = map[string]bool{"change_feed": true, "consent_log": true}

// ErrNotEmpty says that the target of a copy has data.
var ErrNotEmpty = errors.New("the target has data; start with an empty database")

// totals returns what each table has.
func totals(ctx context.Context, b *database.Bulk, tables []database.Table) ([]Total, error) {
	var all []Total
	var encoded []byte
	for _, t := range tables {
		var sum Sum
		err := b.Read(ctx, t, func(row []any) (err error) {
			if isProgress(t, row) {
				return nil
			}
			encoded, err = appendRow(encoded[:0], row)
			sum.add(encoded)
			return err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, sum.total(t.Name))
	}
	return all, nil
}

// isProgress reports whether a row is the mark of a copy or restore itself. The tables of a backup have no Key.
func isProgress(t database.Table, row []any) bool {
	name := slices.IndexFunc(t.Columns, func(c database.Column) bool { return c.Name == "name" })
	return t.Name == installation && row[name] == Unfinished
}

// differences returns the tables in which two databases differ.
func differences(want, got []Total) error {
	var errs []error
	for i, w := range want {
		if g := got[i]; w != g {
			errs = append(errs, fmt.Errorf("the table %s has %d rows with the checksum %s, want %d rows with %s", w.Table, g.Rows, g.Checksum, w.Rows, w.Checksum))
		}
	}
	return errors.Join(errs...)
}

// sameTables returns an error unless the target has exactly the tables and columns of the source.
func sameTables(source, target []database.Table) error {
	find := func(tables []database.Table, name string) []database.Column {
		i := slices.IndexFunc(tables, func(t database.Table) bool { return t.Name == name })
		if i < 0 {
			return nil
		}
		return tables[i].Columns
	}
	for _, t := range append(slices.Clone(source), target...) {
		if !slices.Equal(find(source, t.Name), find(target, t.Name)) {
			return fmt.Errorf("the table %s differs between the source and the target: use a database without tables as the target", t.Name)
		}
	}
	return nil
}

// checkEmpty returns ErrNotEmpty if a table of the target has rows, other than rows of the migrations and the mark.
func checkEmpty(ctx context.Context, b *database.Bulk, tables []database.Table) error {
	for _, t := range tables {
		if seeded[t.Name] {
			continue
		}
		empty, err := b.Empty(ctx, t)
		if t.Name == installation {
			err = b.Scan(ctx, `SELECT NOT EXISTS (SELECT 1 FROM installation WHERE name <> $1)`, []any{Unfinished}, &empty)
		}
		if err != nil {
			return err
		}
		if !empty {
			return fmt.Errorf("%w (it has rows in %s)", ErrNotEmpty, t.Name)
		}
	}
	return nil
}

// clearSeeds deletes what migrations put into the target: the source has its own rows there.
func clearSeeds(ctx context.Context, b *database.Bulk, tables []database.Table) error {
	for _, t := range tables {
		if seeded[t.Name] {
			if err := b.Delete(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}
