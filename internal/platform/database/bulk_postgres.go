package database

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// postgresKinds are the kinds of the types of columns.
var postgresKinds = map[string]Kind{
	"text": KindText, "bigint": KindInt, "integer": KindInt, "bytea": KindBytes, "boolean": KindBool, "double precision": KindFloat,
}

func (b *Bulk) postgresTables(ctx context.Context) (tables []Table, references map[string][]string, err error) {
	// A partition belongs to its table.
	rs, err := b.pg.Query(ctx, `
		SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), coalesce(a.attnum = ANY (i.indkey), FALSE)
		FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> $1
		ORDER BY c.relname, array_position(i.indkey::int2[], a.attnum)`, versionTable)
	if err != nil {
		return nil, nil, classify(err)
	}
	var table, column, declared string
	var key bool
	_, err = pgx.ForEachRow(rs, []any{&table, &column, &declared, &key}, func() (err error) {
		tables, err = addColumn(tables, table, column, postgresKinds[declared], declared, key)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	rs, err = b.pg.Query(ctx, `
		SELECT DISTINCT f.relname, t.relname FROM pg_constraint AS k JOIN pg_class AS f ON f.oid = k.conrelid JOIN pg_class AS t ON t.oid = k.confrelid
		WHERE k.contype = 'f' AND f.relnamespace = current_schema()::regnamespace AND NOT f.relispartition AND NOT t.relispartition`)
	if err != nil {
		return nil, nil, classify(err)
	}
	references = map[string][]string{}
	var from, to string
	_, err = pgx.ForEachRow(rs, []any{&from, &to}, func() error {
		references[from] = append(references[from], to)
		return nil
	})
	return tables, references, err
}

func (b *Bulk) readPostgres(ctx context.Context, t Table, query string, args []any, each func([]any) error) error {
	rs, err := b.pg.Query(ctx, query, args...)
	if err != nil {
		return classify(err)
	}
	defer rs.Close()
	for rs.Next() {
		row, err := rs.Values()
		if err != nil {
			return fmt.Errorf("read a row of %s: %w", t.Name, err)
		}
		for i, v := range row {
			if small, ok := v.(int32); ok {
				row[i] = int64(small)
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

func (b *Bulk) insertPostgres(ctx context.Context, t Table, next func() ([]any, error)) (int64, error) {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = c.Name
	}
	var failed error // PostgreSQL would report it as a canceled statement
	n, err := b.pg.CopyFrom(ctx, pgx.Identifier{t.Name}, columns, pgx.CopyFromFunc(func() (row []any, err error) {
		row, failed = next()
		return row, failed
	}))
	switch {
	case failed != nil:
		return n, failed
	case err != nil:
		return n, classify(err)
	}
	return n, nil
}

// Services returns how many other connections of services a PostgreSQL database has: those with the name touchline, or the
// one that the URL gives to connections.
func (b *Bulk) Services(ctx context.Context) (n int, err error) {
	if b.pg == nil {
		return 0, nil
	}
	name := b.target.config.RuntimeParams["application_name"]
	if name == bulkName {
		name = serviceName
	}
	err = b.Scan(ctx, `
		SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND application_name IN ($1, $2) AND pid <> pg_backend_pid()`, []any{serviceName, name}, &n)
	if err != nil {
		return 0, fmt.Errorf("look for connections of a service: %w", err)
	}
	return n, nil
}
