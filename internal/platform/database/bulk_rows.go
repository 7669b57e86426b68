package database

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// list returns the columns of t for a statement.
func (t Table) list() string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = quote(c.Name)
	}
	return strings.Join(names, ", ")
}

// KeyOf returns the values of the primary key of a row of t.
func (t Table) KeyOf(row []any) []any {
	var key []any
	for _, name := range t.Key {
		for i, c := range t.Columns {
			if c.Name == name {
				key = append(key, row[i])
			}
		}
	}
	return key
}

// KeyKinds returns the columns of the primary key.
func (t Table) KeyKinds() (columns []Column) {
	for _, name := range t.Key {
		for _, c := range t.Columns {
			if c.Name == name {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

// Read calls each with all rows of t, in any order. Each row is valid until each returns.
func (b *Bulk) Read(ctx context.Context, t Table, each func(row []any) error) error {
	return b.read(ctx, t, `SELECT `+t.list()+` FROM `+quote(t.Name), nil, each)
}

// ReadAfter calls each with the rows of t whose primary key is greater than after, in the order of this engine; nil is all
// rows. Each row is valid until each returns.
func (b *Bulk) ReadAfter(ctx context.Context, t Table, after []any, each func(row []any) error) error {
	var key, params []string
	for i, name := range t.Key {
		key, params = append(key, quote(name)), append(params, "$"+strconv.Itoa(i+1))
	}
	where := ""
	if after != nil {
		where = ` WHERE (` + strings.Join(key, ", ") + `) > (` + strings.Join(params, ", ") + `)`
	}
	return b.read(ctx, t, `SELECT `+t.list()+` FROM `+quote(t.Name)+where+` ORDER BY `+strings.Join(key, ", "), after, each)
}

func (b *Bulk) read(ctx context.Context, t Table, query string, args []any, each func([]any) error) error {
	read := b.readSQLite
	if b.pg != nil {
		read = b.readPostgres
	}
	if err := read(ctx, t, query, args, each); err != nil {
		return fmt.Errorf("read the table %s: %w", t.Name, err)
	}
	return nil
}

// Insert adds the rows that next returns, until it returns nil, and returns how many they are. A row is used before the next call.
func (b *Bulk) Insert(ctx context.Context, t Table, next func() ([]any, error)) (n int64, err error) {
	if b.pg != nil {
		n, err = b.insertPostgres(ctx, t, next)
	} else {
		n, err = b.insertSQLite(ctx, t, next)
	}
	if err != nil {
		return n, fmt.Errorf("write the table %s: %w", t.Name, err)
	}
	return n, nil
}

// Empty reports whether t has no row.
func (b *Bulk) Empty(ctx context.Context, t Table) (bool, error) {
	var some bool
	err := b.Scan(ctx, `SELECT EXISTS (SELECT 1 FROM `+quote(t.Name)+`)`, nil, &some)
	return !some, err
}

// Delete deletes all rows of t.
func (b *Bulk) Delete(ctx context.Context, t Table) error {
	return b.Exec(ctx, `DELETE FROM `+quote(t.Name))
}

// CheckReferences returns an error if a row references a row that does not exist. PostgreSQL checks references when a row is written.
func (b *Bulk) CheckReferences(ctx context.Context) error {
	if b.pg != nil {
		return nil
	}
	var table string
	err := b.Scan(ctx, `SELECT "table" FROM pragma_foreign_key_check LIMIT 1`, nil, &table)
	if IsNoRows(err) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("a row of %s references a row that does not exist", table)
	}
	return err
}

// Analyze updates the statistics of the planner, which a new copy does not have.
func (b *Bulk) Analyze(ctx context.Context) error {
	if b.pg == nil {
		return nil // the service uses no statistics of SQLite
	}
	return b.Exec(ctx, `ANALYZE`)
}
