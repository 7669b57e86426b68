package database

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// resumed returns the text of a migration without what PostgreSQL has of it already. Servers such as CockroachDB and YugabyteDB commit each
// CREATE by itself, so that a migration that was interrupted leaves a part. A table is part of it only if it has the same columns: else
// the error is ErrTableInTheWay.
func (m Migration) resumed(ctx context.Context, tx *sql.Tx) (string, error) {
	creates := createsTable.FindAllStringSubmatchIndex(m.text, -1)
	if len(creates) == 0 {
		return m.text, nil
	}
	existing, err := columnsOfTables(ctx, tx)
	if err != nil {
		return "", err
	}
	found := false
	for _, at := range creates {
		name := m.text[at[2]:at[3]]
		columns, exists := existing[name]
		if !exists {
			continue
		}
		found = true
		if want := columnsOf(m.text[at[3]:]); !maps.Equal(columns, want) {
			return "", fmt.Errorf("%w: %s has to create the table %s, which exists with the columns %s",
				ErrTableInTheWay, m.Name, name, strings.Join(slices.Sorted(maps.Keys(columns)), ", "))
		}
	}
	if !found {
		return m.text, nil
	}
	text := createsObject.ReplaceAllString(m.text, "${1}IF NOT EXISTS $2")
	return insertsRow.ReplaceAllString(text, "$1 ON CONFLICT DO NOTHING;"), nil
}

var (
	createsObject = regexp.MustCompile(`(?m)^(CREATE (?:TABLE|INDEX|UNIQUE INDEX) )(?:IF NOT EXISTS )?([a-z_]+)`)
	insertsRow    = regexp.MustCompile(`(?m)^(INSERT INTO [^;]+);`)
	sqlComment    = regexp.MustCompile(`--[^\n]*`)
)

// columnsOfTables returns the names of the columns of each table in the schema.
func columnsOfTables(ctx context.Context, tx *sql.Tx) (map[string]map[string]bool, error) {
	rows, err := tx.QueryContext(ctx, `SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = current_schema()`)
	if err != nil {
		return nil, fmt.Errorf("list the columns of the database: %w", err)
	}
	defer rows.Close()
	tables := map[string]map[string]bool{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return nil, err
		}
		if tables[table] == nil {
			tables[table] = map[string]bool{}
		}
		tables[table][column] = true
	}
	return tables, rows.Err()
}

// columnsOf returns the names of the columns in the first parentheses of a text of SQL. A word in capitals begins a constraint.
func columnsOf(text string) map[string]bool {
	columns, depth, begins := map[string]bool{}, 0, false
	text = sqlComment.ReplaceAllString(text, "")
	for i, c := range text {
		switch {
		case c == '(':
			depth++
			begins = depth == 1
		case c == ')':
			if depth--; depth == 0 {
				return columns
			}
		case c == ',' && depth == 1:
			begins = true
		case begins && !strings.ContainsRune(" \t\r\n", c):
			begins = false
			if c >= 'a' && c <= 'z' {
				name := text[i:]
				columns[name[:strings.IndexAny(name, " \t\r\n,)")]] = true
			}
		}
	}
	return columns
}
