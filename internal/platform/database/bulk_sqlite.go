package database

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// sqliteKinds are the kinds of the declared types of columns.
var sqliteKinds = map[string]Kind{
	"TEXT": KindText, "BIGINT": KindInt, "INTEGER": KindInt, "BYTEA": KindBytes, "BOOLEAN": KindBool, "DOUBLE PRECISION": KindFloat,
}

// sqliteTables leaves out the tables that Litestream adds to a database.
func (b *Bulk) sqliteTables(ctx context.Context) (tables []Table, references map[string][]string, err error) {
	rs, err := b.conn.QueryContext(ctx, `
		SELECT m.name, c.name, c.type, c.pk FROM sqlite_master AS m, pragma_table_info(m.name) AS c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name NOT LIKE '!_litestream!_%' ESCAPE '!' AND m.name <> ?
		ORDER BY m.name, c.pk`, versionTable)
	if err != nil {
		return nil, nil, classify(err)
	}
	defer rs.Close()
	for rs.Next() {
		var table, column, declared string
		var position int
		if err := rs.Scan(&table, &column, &declared, &position); err != nil {
			return nil, nil, err
		}
		tables, err = addColumn(tables, table, column, sqliteKinds[strings.ToUpper(declared)], declared, position > 0)
		if err != nil {
			return nil, nil, err
		}
	}
	if err := rs.Err(); err != nil {
		return nil, nil, classify(err)
	}
	rs, err = b.conn.QueryContext(ctx, `SELECT m.name, f."table" FROM sqlite_master AS m, pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table'`)
	if err != nil {
		return nil, nil, classify(err)
	}
	references, err = collectReferences(rs)
	return tables, references, err
}

func collectReferences(rs *sql.Rows) (map[string][]string, error) {
	defer rs.Close()
	references := map[string][]string{}
	for rs.Next() {
		var from, to string
		if err := rs.Scan(&from, &to); err != nil {
			return nil, err
		}
		references[from] = append(references[from], to)
	}
	return references, rs.Err()
}

// addColumn adds a column to the last table, or to a new one. Rows of one table follow each other.
func addColumn(tables []Table, table, column string, kind Kind, declared string, key bool) ([]Table, error) {
	if kind == "" {
		return nil, fmt.Errorf("the column %s.%s has the unknown type %q", table, column, declared)
	}
	if len(tables) == 0 || tables[len(tables)-1].Name != table {
		tables = append(tables, Table{Name: table})
	}
	last := &tables[len(tables)-1]
	last.Columns = append(last.Columns, Column{column, kind})
	if key {
		last.Key = append(last.Key, column)
	}
	return tables, nil
}

// checkContext is after how many rows a read or write of SQLite looks at its context. The driver's own watch makes a read
// 1.5 times as slow.
const checkContext = 1000

func (b *Bulk) readSQLite(ctx context.Context, t Table, query string, args []any, each func([]any) error) error {
	rs, err := b.conn.QueryContext(context.WithoutCancel(ctx), query, args...)
	if err != nil {
		return classify(err)
	}
	defer rs.Close()
	row, dest := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range row {
		dest[i] = &row[i]
	}
	for n := 0; rs.Next(); n++ {
		if n%checkContext == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := rs.Scan(dest...); err != nil {
			return err
		}
		for i, c := range t.Columns {
			row[i], err = fromSQLite(c.Kind, row[i])
			if err != nil {
				return fmt.Errorf("%s.%s: %w", t.Name, c.Name, err)
			}
		}
		if err := each(row); err != nil {
			return err
		}
	}
	if err := rs.Err(); err != nil {
		return classify(err)
	}
	return nil
}

// fromSQLite returns the value of a column as the type of its kind. SQLite stores any value in any column.
func fromSQLite(kind Kind, v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		if kind == KindText {
			return v, nil
		}
	case int64:
		switch kind {
		case KindInt:
			return v, nil
		case KindBool:
			return v != 0, nil
		case KindFloat:
			return float64(v), nil
		}
	case bool:
		if kind == KindBool {
			return v, nil
		}
	case []byte:
		if kind == KindBytes {
			return append([]byte{}, v...), nil // the driver returns a nil slice for no bytes, which it would write as NULL
		}
	case float64:
		if kind == KindFloat {
			return v, nil
		}
	}
	return nil, fmt.Errorf("a value of the type %T in a column of the kind %s", v, kind)
}

// insertRows is how many rows one statement inserts.
const insertRows = 50

func (b *Bulk) insertSQLite(ctx context.Context, t Table, next func() ([]any, error)) (n int64, err error) {
	columns := len(t.Columns)
	begin := `INSERT INTO ` + quote(t.Name) + ` (` + t.list() + `) VALUES `
	one := `(?` + strings.Repeat(`, ?`, columns-1) + `)`
	many, err := b.conn.PrepareContext(ctx, begin+one+strings.Repeat(`, `+one, insertRows-1))
	if err != nil {
		return 0, classify(err)
	}
	defer many.Close()
	args := make([]any, 0, insertRows*columns)
	for {
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
		row, err := next()
		if err != nil {
			return n, err
		}
		if row != nil {
			args = append(args, row...)
			n++
		}
		switch {
		case len(args) == cap(args):
			_, err = many.ExecContext(context.WithoutCancel(ctx), args...)
		case row == nil && len(args) > 0:
			_, err = b.conn.ExecContext(ctx, begin+one+strings.Repeat(`, `+one, len(args)/columns-1), args...)
		case row == nil:
			return n, nil
		default:
			continue
		}
		if err != nil {
			return n, classify(err)
		}
		args = args[:0]
		if row == nil {
			return n, nil
		}
	}
}
