package dump

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/touchline/touchline/internal/platform/database"
)

const (
	// installation is the table with named values, one of which says that a copy is not complete.
	installation = "installation"
	// Unfinished is the name of the value in a database whose copy is not complete. No service may run on it.
	Unfinished = "copy"
)

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

// isProgress reports whether a row is the state of the copy itself.
func isProgress(t database.Table, row []any) bool {
	return t.Name == installation && slices.Equal(t.KeyOf(row), []any{Unfinished})
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

// checkEmpty returns ErrNotEmpty if a table of the target has rows, other than rows of the migrations.
func checkEmpty(ctx context.Context, b *database.Bulk, tables []database.Table) error {
	for _, t := range tables {
		empty, err := b.Empty(ctx, t)
		if err != nil {
			return err
		}
		if !empty && !seeded[t.Name] {
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

// IsUnfinished reports whether a database is the target of a copy that is not complete.
func IsUnfinished(ctx context.Context, db database.Querier) (bool, error) {
	var unfinished bool
	err := db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM installation WHERE name = $1)`, Unfinished).Scan(&unfinished)
	return unfinished, err
}
